import type { Deps } from '../../../app/deps.ts'
import { ApiError } from '../../../lib/errors.ts'
import type { IdentityProvider } from '../identity-provider.entity.ts'
import type { PutSaml } from '../provider.schema.ts'
import type { TypedValues } from '../provider-facts.ts'
import { isPair, makeKeyPair } from './key-pair.ts'
import { metadataIn, oidcOnly } from './saml-provider.ts'

/** Returns the stored values of a provider of SAML: its key stays unchanged, unless another one is given or asked for. */
export async function samlValues({ clock }: Pick<Deps, 'clock'>, before: IdentityProvider | null, body: PutSaml): Promise<TypedValues> {
  const { entityId, ssoUrl } = metadataIn(body.metadata_xml, 'metadata_xml')
  const pair = givenPair(body)
  const kept = before?.settings.saml?.sp_certificate ?? null
  const made = pair ?? (kept === null || body.renew_sp_key ? await makeKeyPair(clock.now()) : null)
  return {
    type: 'saml',
    name: body.name ?? new URL(ssoUrl).host,
    issuer: entityId,
    clientId: body.client_id ?? '',
    secret: made?.privateKey,
    settings: {
      ...oidcOnly,
      saml: {
        metadata_xml: body.metadata_xml,
        subject_claim: body.subject_claim,
        email_claim: body.email_claim,
        allow_idp_initiated: body.allow_idp_initiated,
        sign_requests: body.sign_requests,
        sp_certificate: made?.certificate ?? kept,
      },
    },
  }
}

function givenPair({ sp_private_key: privateKey, sp_certificate: certificate }: PutSaml) {
  if (privateKey === undefined && certificate === undefined) return null
  const pair = { privateKey: privateKey ?? '', certificate: certificate ?? '' }
  if (isPair(pair)) return pair
  throw new ApiError(
    'AB01',
    'sp_private_key and sp_certificate come together: an RSA key without a passphrase and its certificate, in PEM.',
    {
      param: privateKey === undefined ? 'sp_private_key' : 'sp_certificate',
    },
  )
}
