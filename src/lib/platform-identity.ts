import type { Secret } from './secret.ts'

/** The identity that its platform gives this process, from settings of the operator and variables of the platform. */
export interface PlatformIdentity {
  /** The token of the pod's service account, which Kubernetes keeps fresh. */
  readonly serviceAccountTokenFile: string
  readonly aws: AwsWorkload
  readonly azure: AzureWorkload
  readonly google: GoogleWorkload
}

/** Keys of AWS as settings have them. */
export interface SettledKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: Secret
  readonly sessionToken: Secret | null
}

export interface AwsWorkload {
  readonly region: string | null
  /** `AWS_ACCESS_KEY_ID` and its kin. */
  readonly keys: SettledKeys | null
  /** A role that the token in a file takes on (IRSA). */
  readonly webIdentity: { readonly roleArn: string; readonly tokenFile: string } | null
  /** The service for containers: Amazon ECS, EKS Pod Identity. */
  readonly container: { readonly url: string; readonly tokenFile: string | null } | null
  /** `http://169.254.169.254`; null: the instance is not asked. */
  readonly instance: string | null
  /** The identity that takes on roles for providers, when it is another one. */
  readonly assuming: {
    readonly keys: SettledKeys
    readonly sourceArn: string | null
    readonly externalId: string | null
    readonly region: string | null
  } | null
  /** Addresses in place of AWS's own, as of an interface endpoint. */
  readonly endpoints: Readonly<Partial<Record<string, string>>>
}

export interface AzureWorkload {
  /** The authority of Entra: `https://login.microsoftonline.com`. */
  readonly authority: string
  readonly tenantId: string | null
  readonly clientId: string | null
  /** The token of the workload, which the platform keeps fresh. */
  readonly federatedTokenFile: string | null
  /** The client id of a user-assigned identity; null: the one that the machine has. */
  readonly managedClientId: string | null
  /** `http://169.254.169.254` */
  readonly instance: string
  /** The service of App Service and Container Apps, with the secret that it asks for. */
  readonly endpoint: { readonly url: string; readonly header: Secret } | null
}

export interface GoogleWorkload {
  /** `http://169.254.169.254` */
  readonly instance: string
  /** The audience of workload identity federation; null: the metadata server is asked. */
  readonly audience: string | null
  readonly serviceAccount: string | null
  /** A file with the token that is exchanged; null: `tokenUrl`. */
  readonly tokenFile: string | null
  /** An address that gives the token, as text or as JSON with `access_token`, `id_token` or `value`; null: the identity at AWS. */
  readonly tokenUrl: string | null
}
