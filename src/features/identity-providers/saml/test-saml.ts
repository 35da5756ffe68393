import type { Deps } from '../../../app/deps.ts'
import { ApiError } from '../../../lib/errors.ts'
import type { SamlSettings } from '../identity-provider.entity.ts'
import type { Provider } from '../provider-facts.ts'
import { isPair } from './key-pair.ts'
import { certificateFacts, type IdpMetadata } from './metadata.ts'
import { metadataIn } from './saml-provider.ts'

interface Step {
  readonly step: 'metadata' | 'certificates' | 'own_key'
  readonly ok: boolean
  readonly detail: string
}

/** Checks the stored facts about a provider of SAML. Sends no request: only browsers meet such a provider. Never rejects. */
export async function testSaml(
  { clock }: Pick<Deps, 'clock'>,
  provider: Provider,
  settings: SamlSettings,
): Promise<{ readonly ok: boolean; readonly steps: Step[] }> {
  const steps: Step[] = []
  try {
    const metadata = metadataIn(settings.metadata_xml, 'metadata_xml')
    steps.push({
      step: 'metadata',
      ok: true,
      detail: `People sign in at ${metadata.ssoUrl} (HTTP-Redirect) of ${metadata.entityId}; answers come by HTTP-POST to ${provider.redirectUri}.`,
    })
    steps.push(certificatesStep(metadata, clock.now()), await keyStep(provider, settings, metadata))
  } catch (error) {
    steps.push({ step: 'metadata', ok: false, detail: error instanceof ApiError ? error.message : 'The metadata cannot be read.' })
  }
  return { ok: steps.every(({ ok }) => ok), steps }
}

function certificatesStep({ certificates }: IdpMetadata, nowMs: number): Step {
  const facts = certificates.map(certificateFacts)
  const valid = facts.filter(({ valid_until: until }) => Date.parse(until) > nowMs)
  const words = facts.map(({ sha256, valid_until: until }) => `${sha256.slice(0, 23)}... until ${until.slice(0, 10)}`)
  const detail = `The provider signs with ${facts.length === 1 ? 'the key of the certificate' : 'a key of the certificates'} ${words.join(', ')}.`
  return { step: 'certificates', ok: valid.length > 0, detail: valid.length > 0 ? detail : `${detail} None is valid any longer.` }
}

async function keyStep(provider: Provider, { sp_certificate: certificate, sign_requests: signs }: SamlSettings, metadata: IdpMetadata) {
  const step = 'own_key' as const
  const key = await provider.secret()
  if (key === null || certificate === null) {
    const isNeeded = signs ?? metadata.wantsSignedRequests
    const detail = 'Gatehouse has no key: requests are not signed, and encrypted assertions cannot be read.'
    return { step, ok: !isNeeded, detail: isNeeded ? `${detail} The provider wants signed requests.` : detail }
  }
  const ok = isPair({ privateKey: key, certificate })
  const asked = (signs ?? metadata.wantsSignedRequests) ? 'signed' : 'not signed'
  const until = certificateFacts(certificate).valid_until.slice(0, 10)
  return {
    step,
    ok,
    detail: ok ? `Requests are ${asked}. The certificate of Gatehouse is valid until ${until}.` : 'The key does not fit its certificate.',
  }
}
