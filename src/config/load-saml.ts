import type { CleanedEnv } from 'envalid'
import type { SamlConfig } from './config.ts'
import { metadataOf } from './saml-settings.ts'
import type { SettingName, settings } from './settings.ts'
import { certificates, privateKey } from './pem.ts'

type Values = CleanedEnv<typeof settings>

/** Returns the provider of SAML that the settings name; null: they name none, or AUTH_SSO_TYPE is another. */
export function samlOf(values: Values): SamlConfig | null {
  if (values.AUTH_SSO_TYPE !== 'saml' || values.SAML_METADATA_XML === undefined) return null
  return {
    metadataXml: metadataOf(values.SAML_METADATA_XML),
    entityId: values.SAML_ENTITY_ID ?? null,
    spKey: values.SAML_SP_KEY === undefined ? null : privateKey.parse(values.SAML_SP_KEY.reveal()),
    spCertificate: values.SAML_SP_CERT === undefined ? null : certificates.parse(values.SAML_SP_CERT),
    domains: values.SAML_DOMAINS,
    subjectClaim: values.SAML_SUBJECT_CLAIM ?? null,
    emailClaim: values.SAML_EMAIL_CLAIM ?? null,
    groupClaim: values.SAML_GROUP_CLAIM ?? null,
    autoProvision: values.SAML_AUTO_PROVISION,
    idpInitiated: values.SAML_IDP_INITIATED,
  }
}

/** Returns the settings that a provider of SAML lacks. */
export function missingForSaml(values: Values): readonly { readonly name: SettingName; readonly because: string }[] {
  const { SAML_SP_KEY: key, SAML_SP_CERT: certificate } = values
  return [
    ...(values.AUTH_SSO_TYPE === 'saml' && values.SAML_METADATA_XML === undefined
      ? [{ name: 'SAML_METADATA_XML', because: 'AUTH_SSO_TYPE is saml' } as const]
      : []),
    ...(key === undefined && certificate !== undefined ? [{ name: 'SAML_SP_KEY', because: 'SAML_SP_CERT is given' } as const] : []),
    ...(key !== undefined && certificate === undefined ? [{ name: 'SAML_SP_CERT', because: 'SAML_SP_KEY is given' } as const] : []),
  ]
}
