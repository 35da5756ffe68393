import { readFileSync } from 'node:fs'
import { fault, list, onOff, text, type Kind } from './kinds.ts'
import { mailDomain } from './mail-domain.ts'
import { certificatesSource, privateKeySource } from './pem.ts'
import { optional, setting } from './setting.ts'

/** Returns the metadata that a setting holds, or that is in the file which it names. */
export const metadataOf = (input: string): string => (isXml(input) ? input : readFileSync(input, 'utf8'))

const isXml = (input: string): boolean => input.trimStart().startsWith('<')

/** Metadata of SAML, as XML or the path of such a file, kept as it was given. */
const metadata: Kind<string> = {
  name: 'XML or path',
  parse: (input) => {
    const xml = readable(input)
    return /<(?:[\w.-]+:)?IDPSSODescriptor[\s/>]/.test(xml)
      ? input
      : fault('holds no IDPSSODescriptor, so it is no metadata of an identity provider')
  },
}

function readable(input: string): string {
  try {
    return metadataOf(input)
  } catch {
    return fault('is neither XML nor the path of a file that can be read')
  }
}

/** The settings of the identity provider of the first organisation, where it speaks SAML 2.0. */
export const samlSettings = {
  SAML_METADATA_XML: optional(metadata, {
    desc: 'The metadata of the identity provider of the first organisation, as XML or the path of a file, for `AUTH_SSO_TYPE=saml`. The values of `PUT /v1/admin/organisation/sso` go first.',
    example: '/etc/gatehouse/idp-metadata.xml',
  }),
  SAML_ENTITY_ID: optional(text(320), {
    desc: 'The entity id of Gatehouse at the provider. Default: the URL of the metadata of Gatehouse.',
    example: 'https://gateway.example.com/saml',
  }),
  SAML_SP_KEY: optional(privateKeySource, {
    desc: 'The RSA key with which Gatehouse signs requests and reads encrypted assertions, with `SAML_SP_CERT`. Without it neither is done for the provider of the settings.',
    example: '/etc/gatehouse/saml.key',
    secret: true,
  }),
  SAML_SP_CERT: optional(certificatesSource, {
    desc: 'The certificate of `SAML_SP_KEY`, which the provider gets. It may have signed itself.',
    example: '/etc/gatehouse/saml.crt',
  }),
  SAML_DOMAINS: setting(list(mailDomain), '', {
    desc: 'The domains of e-mail addresses that the first organisation owns. An address in an assertion finds a person, or makes one, only if it is of such a domain.',
    example: 'example.com, example.org',
  }),
  SAML_SUBJECT_CLAIM: optional(text(255), {
    desc: 'The attribute that identifies a person for good. Default: NameID, which then must not be transient.',
    example: 'http://schemas.microsoft.com/identity/claims/objectidentifier',
  }),
  SAML_EMAIL_CLAIM: optional(text(255), {
    desc: 'The attribute with the e-mail address. Default: the usual names, else a NameID that is an address.',
    example: 'mail',
  }),
  SAML_GROUP_CLAIM: optional(text(255), {
    desc: 'The attribute with the groups of a person, whose names give roles as those of SCIM do.',
    example: 'groups',
    since: '1.6.0',
  }),
  SAML_AUTO_PROVISION: setting(onOff, 'OFF', {
    desc: 'Whether people of `SAML_DOMAINS` become members of the first organisation when they first sign in. `OFF`: only those who are invited or provisioned sign in.',
    example: 'ON',
    since: '1.7.0',
  }),
  SAML_IDP_INITIATED: setting(onOff, 'OFF', {
    desc: 'Whether people may begin to sign in at the provider, without having been sent there by Gatehouse. An answer is then bound to no browser.',
    example: 'ON',
  }),
}
