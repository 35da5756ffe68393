import type { CleanedEnv } from 'envalid'
import type { Secret } from '../lib/secret.ts'
import type { IdentityConfig } from './config.ts'
import type { settings, SettingName } from './settings.ts'

type Values = CleanedEnv<typeof settings>

/** Returns the identity of the workload, from the settings and the variables of its platform. */
export const identityOf = (values: Values): IdentityConfig => ({
  offeredTo: offeredTo(values),
  trustedHosts: values.CLOUD_IDENTITY_HOSTS,
  serviceAccountTokenFile: values.KUBERNETES_TOKEN_FILE,
  aws: awsOf(values),
  azure: {
    authority: values.AZURE_AUTHORITY_HOST ?? 'https://login.microsoftonline.com',
    tenantId: values.AZURE_TENANT_ID ?? null,
    clientId: values.AZURE_CLIENT_ID ?? null,
    federatedTokenFile: values.AZURE_FEDERATED_TOKEN_FILE ?? null,
    managedClientId: values.AZURE_MANAGED_CLIENT_ID ?? null,
    instance: values.AZURE_POD_IDENTITY_AUTHORITY_HOST,
    endpoint:
      values.IDENTITY_ENDPOINT === undefined || values.IDENTITY_HEADER === undefined
        ? null
        : { url: values.IDENTITY_ENDPOINT, header: values.IDENTITY_HEADER },
  },
  google: {
    instance: values.GCE_METADATA_HOST,
    audience: values.GCP_WIF_AUDIENCE ?? null,
    serviceAccount: values.GCP_WIF_SERVICE_ACCOUNT_EMAIL ?? null,
    tokenFile: values.GCP_WIF_TOKEN_FILE ?? null,
    tokenUrl: values.GCP_WIF_TOKEN_URL ?? null,
  },
})

function offeredTo({ CLOUD_IDENTITIES: isOn, CLOUD_IDENTITY_ORGANISATIONS: organisations }: Values): IdentityConfig['offeredTo'] {
  if (!isOn) return []
  return organisations.includes('all') ? 'all' : organisations
}

function awsOf(values: Values): IdentityConfig['aws'] {
  const { AWS_ROLE_ARN: roleArn, AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile } = values
  const assuming = keysOf(values.AWS_ASSUME_ROLE_ACCESS_KEY_ID, values.AWS_ASSUME_ROLE_SECRET_ACCESS_KEY)
  const container = containerUrl(values)
  const endpoints = { sts: values.AWS_ENDPOINT_URL_STS, secretsmanager: values.AWS_ENDPOINT_URL_SECRETS_MANAGER }
  return {
    region: values.AWS_REGION ?? null,
    keys: keysOf(values.AWS_ACCESS_KEY_ID, values.AWS_SECRET_ACCESS_KEY, values.AWS_SESSION_TOKEN),
    webIdentity: roleArn === undefined || tokenFile === undefined ? null : { roleArn, tokenFile },
    container:
      container === null
        ? null
        : {
            url: container,
            tokenFile: values.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE ?? null,
          },
    instance: values.AWS_EC2_METADATA_DISABLED ? null : values.AWS_EC2_METADATA_SERVICE_ENDPOINT,
    assuming:
      assuming === null
        ? null
        : {
            keys: assuming,
            sourceArn: values.AWS_ASSUME_ROLE_SOURCE_ARN ?? null,
            externalId: values.AWS_ASSUME_ROLE_SOURCE_EXTERNAL_ID ?? null,
            region: values.AWS_ASSUME_ROLE_REGION ?? null,
          },
    endpoints: Object.fromEntries(Object.entries(endpoints).flatMap(([service, url]) => (url === undefined ? [] : [[service, url]]))),
  }
}

/** The address of ECS is always the same. */
const containerUrl = ({
  AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relative,
  AWS_CONTAINER_CREDENTIALS_FULL_URI: full,
}: Values): string | null =>
  relative === undefined ? (full ?? null) : `http://169.254.170.2${relative.startsWith('/') ? '' : '/'}${relative}`

const keysOf = (accessKeyId: string | undefined, secretAccessKey: Secret | undefined, sessionToken?: Secret) =>
  accessKeyId === undefined || secretAccessKey === undefined ? null : { accessKeyId, secretAccessKey, sessionToken: sessionToken ?? null }

/** Returns the half of each pair of settings that lacks the other. */
export function missingForIdentity(values: Values): readonly { readonly name: SettingName; readonly because: string }[] {
  const pairs: readonly (readonly [SettingName, SettingName])[] = [
    ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'],
    ['AWS_ASSUME_ROLE_ACCESS_KEY_ID', 'AWS_ASSUME_ROLE_SECRET_ACCESS_KEY'],
    ['IDENTITY_ENDPOINT', 'IDENTITY_HEADER'],
  ]
  return pairs.flatMap(([one, other]) => {
    if ((values[one] === undefined) === (values[other] === undefined)) return []
    const [given, missing] = values[one] === undefined ? [other, one] : [one, other]
    return [{ name: missing, because: `${given} is given` }]
  })
}
