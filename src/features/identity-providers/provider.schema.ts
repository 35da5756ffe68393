import { z } from 'zod'
import { workspaceRoles } from '../../lib/access/roles.ts'
import { faultOfCertificates } from '../../lib/certificates.ts'
import { nameField } from '../../lib/text/slug.ts'
import { textField } from '../../lib/text/text.ts'
import { since } from '../../release/since.ts'
import { authMethods, callbacks } from './identity-provider.entity.ts'
import { secretField } from '../../lib/json/secret-fields.ts'
import { namesNoUser, userFault } from '../../lib/text/url-user.ts'

const url = z
  .url({ protocol: /^https?$/ })
  .max(320)
  .refine(namesNoUser, userFault)
const endpoint = url.nullable().default(null)
const scope = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/, 'A scope is a word of printable ASCII.')
const authorities = textField(65_536)
  .min(1)
  .superRefine((pem, context) => {
    const wrong = faultOfCertificates(pem)
    if (wrong !== null) context.addIssue({ code: 'custom', message: `This ${wrong}: write one or more certificates in PEM.` })
  })
const claimPath = textField(255).min(1)

/** A domain of e-mail addresses, in lower case. */
const domainField = z
  .string()
  .max(255)
  .transform((domain) => domain.toLowerCase())
  .refine(
    (domain) => /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/.test(domain),
    'This is no domain, such as example.com.',
  )

const mapping = z.strictObject({
  group: textField(255).min(1).meta({ description: 'The group as the claim names it, in any case.' }),
  workspace_id: z.string().min(1).max(255).meta({ description: 'Id or slug of the workspace.' }),
  role: z.enum(workspaceRoles),
})

const clientKey = z.looseObject({ kty: z.enum(['RSA', 'EC', 'OKP']), d: z.string().min(1) })

/** The fields of every provider. */
const common = {
  enabled: z.boolean().default(true).meta({ description: 'False: people cannot sign in by the provider. Its settings stay.' }),
  name: nameField.optional().meta({ description: 'The name of the provider for people. Default: the host at which people sign in.' }),
  domains: z.array(domainField).max(100).default([]).meta({
    description:
      'The mail domains of the organisation. They choose the provider, and only addresses of them find or make a person. Where there are several organisations, `ORGANISATION_DOMAINS` has to list them.',
  }),
  auto_provision: since(
    '1.7.0',
    z.boolean().optional().meta({ description: 'Whether people of `domains` become members when they first sign in.' }),
  ),
  disable_auto_provision_user: since('1.7.0', z.boolean().optional().meta({ description: 'True: as `auto_provision: false`.' })),
  group_claim: since(
    '1.6.0',
    claimPath.nullable().optional().meta({
      description: 'The claim with the groups of a person, whose names give roles as those of SCIM do; dots lead into objects.',
    }),
  ),
  role_mappings: since(
    '1.6.0',
    z.array(mapping).max(1000).optional().meta({ description: 'Groups that give a role in a workspace, under any name.' }),
  ),
}

export const oidcBody = z
  .strictObject({
    type: z.literal('oidc'),
    ...common,
    issuer: url.meta({ description: 'The issuer, as its discovery document names it.' }),
    client_id: textField(320).min(1),
    client_secret: secretField(textField(4096).min(1)).optional().meta({
      description:
        'Absent: the secret that is stored stays, as long as `issuer`, `client_id`, `token_endpoint`, `token_endpoint_auth_method` and `ca` do.',
    }),
    client_jwks: secretField(clientKey.or(z.looseObject({ keys: z.array(clientKey).min(1).max(10) })))
      .optional()
      .meta({
        description:
          'For `private_key_jwt`, in place of `client_secret`: the private key as a JSON Web Key, or a set of which the first counts.',
      }),
    token_endpoint_auth_method: z.enum(authMethods).default('client_secret_basic'),
    callback: since(
      '1.3.2',
      z.enum(callbacks).optional().meta({
        description:
          'The path to which the provider sends people back: `organisation` (of this organisation alone) or `shared` (of the first organisation). Absent: the one before stays, as long as `issuer`, `client_id` and the endpoints do; else `shared` for the first organisation and `organisation` for others.',
      }),
    ),
    scopes: since(
      '1.11.1',
      z
        .array(scope)
        .max(50)
        .optional()
        .meta({ description: 'The scopes in place of `openid`, `profile` and `email`; `openid` is always among them.' }),
    ),
    authorization_endpoint: endpoint.meta({
      description: 'With `token_endpoint` and `jwks_uri`: the endpoints of a provider without discovery.',
    }),
    token_endpoint: endpoint,
    jwks_uri: endpoint,
    userinfo_endpoint: endpoint,
    end_session_endpoint: endpoint.meta({
      description: 'Where a browser signs out at the provider. As `userinfo_endpoint`, it may be given alone.',
    }),
    ca: authorities.nullable().default(null).meta({
      description:
        'The authorities that sign the certificates of the provider, PEM, in place of the usual ones. They count for calls to this provider alone.',
    }),
    post_logout_redirect_uri: url.nullable().default(null).meta({
      description:
        'The address to which the provider sends a browser on that has signed out there. It must be registered there. Null: none.',
    }),
    email_verified_claim: claimPath
      .default('email_verified')
      .meta({ description: 'The claim that states whether an address is verified.' }),
  })
  .meta({ id: 'PutOidcProvider', description: 'A provider of OpenID Connect, whole.' })

const pem = textField(16_384).min(1)

export const samlBody = z
  .strictObject({
    type: z.literal('saml'),
    ...common,
    metadata_xml: textField(500_000).min(1).meta({
      description: 'The metadata of the provider: its entity id, where people sign in, and the certificates with which it signs.',
    }),
    client_id: textField(320).min(1).optional().meta({
      description: 'The entity id of Gatehouse. Default: the URL of its metadata.',
    }),
    subject_claim: claimPath.nullable().default(null).meta({
      description: 'The attribute that identifies a person for good. Null: NameID.',
    }),
    email_claim: claimPath.nullable().default(null).meta({ description: 'The attribute with the address. Null: the usual ones.' }),
    allow_idp_initiated: z.boolean().default(false).meta({
      description: 'Whether people may begin at the provider, without having been sent there: an answer is then bound to no browser.',
    }),
    sign_requests: z.boolean().nullable().default(null).meta({
      description: 'Whether requests are signed. Null: as the metadata of the provider asks (`WantAuthnRequestsSigned`).',
    }),
    sp_private_key: secretField(pem).optional().meta({
      description: 'The RSA key of Gatehouse, PEM, with `sp_certificate`. Absent: the one before stays, or one is made.',
    }),
    sp_certificate: pem.optional(),
    renew_sp_key: z.boolean().default(false).meta({ description: 'True: a new key of Gatehouse is made.' }),
  })
  .meta({ id: 'PutSamlProvider', description: 'A provider of SAML 2.0, whole.' })

export const putProviderBody = z
  .discriminatedUnion('type', [oidcBody, samlBody])
  .meta({ id: 'PutIdentityProvider', description: 'The identity provider of the organisation, whole.' })

export type PutOidc = z.output<typeof oidcBody>
export type PutSaml = z.output<typeof samlBody>
export type PutProvider = PutOidc | PutSaml

const samlView = z
  .object({
    entity_id: z.string().meta({ description: 'The entity id of Gatehouse (audience).' }),
    acs_url: z.url().meta({ description: 'Where the provider sends assertions (assertion consumer service, recipient, destination).' }),
    metadata_url: z.url().meta({ description: 'The metadata of Gatehouse, once a provider is set.' }),
    sso_url: z.string().nullable().meta({ description: 'Where people sign in, by the metadata of the provider.' }),
    certificates: z
      .array(z.object({ sha256: z.string(), valid_from: z.iso.datetime(), valid_until: z.iso.datetime() }))
      .meta({ description: 'The certificates of the provider. Their keys count until they leave the metadata, even after their end.' }),
    metadata_xml: z.string().nullable(),
    subject_claim: z.string().nullable(),
    email_claim: z.string().nullable(),
    allow_idp_initiated: z.boolean(),
    sign_requests: z.boolean().nullable(),
    sp_certificate: z.string().nullable().meta({ description: 'The certificate of the key of Gatehouse, PEM.' }),
  })
  .meta({ id: 'SamlProvider', description: 'The facts that Gatehouse and a provider of SAML have about each other.' })

export const providerView = z
  .object({
    object: z.literal('identity-provider'),
    type: z.enum(['oidc', 'saml']).nullable().meta({ description: 'Null: the organisation has no identity provider.' }),
    source: z
      .enum(['settings', 'api'])
      .nullable()
      .meta({ description: '`settings`: from the settings of the installation, until one is set here.' }),
    enabled: z.boolean(),
    name: z.string().nullable(),
    issuer: z.string().nullable(),
    client_id: z.string().nullable(),
    token_endpoint_auth_method: z.enum(authMethods).nullable(),
    scopes: since('1.11.1', z.array(z.string())),
    authorization_endpoint: z.string().nullable(),
    token_endpoint: z.string().nullable(),
    jwks_uri: z.string().nullable(),
    userinfo_endpoint: z.string().nullable(),
    end_session_endpoint: z.string().nullable(),
    post_logout_redirect_uri: z.string().nullable(),
    ca: z.string().nullable(),
    domains: z.array(z.string()),
    owned_domains: z.array(z.string()).meta({ description: 'Those of `domains` that count.' }),
    email_verified_claim: z.string(),
    auto_provision: since('1.7.0', z.boolean()),
    group_claim: since('1.6.0', z.string().nullable()),
    role_mappings: since('1.6.0', z.array(z.object({ group: z.string(), workspace_id: z.uuid(), role: z.enum(workspaceRoles) }))),
    saml: samlView.meta({
      description: 'Its first three fields are there without a provider too: the provider asks for them first.',
    }),
    callback: since(
      '1.3.2',
      z
        .enum(callbacks)
        .meta({ description: 'The path in `redirect_uri`: of this organisation alone, or of the first one (OpenID Connect).' }),
    ),
    redirect_uri: z.url().meta({ description: 'The redirect URI that the provider must allow.' }),
    login_url: z.url().meta({ description: 'Where people begin to sign in.' }),
  })
  .meta({ id: 'IdentityProvider', description: 'The identity provider of the organisation, without its secret.' })

export const providerTested = z
  .object({
    ok: z.boolean(),
    steps: z.array(
      z.object({ step: z.enum(['discovery', 'keys', 'metadata', 'certificates', 'own_key']), ok: z.boolean(), detail: z.string() }),
    ),
  })
  .meta({ id: 'IdentityProviderTested', description: 'The answer of the provider. Nothing is changed.' })
