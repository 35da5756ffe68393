import type { Deps } from '../../../app/deps.ts'
import { ApiError } from '../../../lib/errors.ts'
import type { SamlSettings } from '../identity-provider.entity.ts'
import type { Provider } from '../provider-facts.ts'
import { isPair } from '../saml/key-pair.ts'
import { certificateFacts, type IdpMetadata } from '../saml/metadata.ts'
import { metadataIn } from '../saml/saml-provider.ts'
import { careful, wrong, type SsoFinding } from './finding.ts'

/** A certificate that ends so soon should be changed. */
const soonMs = 30 * 24 * 60 * 60 * 1000

/** Examines the stored facts about a provider of SAML. Sends no request: only browsers meet such a provider. Never rejects. */
export async function examineSaml(
  { clock }: Pick<Deps, 'clock'>,
  provider: Provider,
  settings: SamlSettings,
): Promise<readonly SsoFinding[]> {
  try {
    const metadata = metadataIn(settings.metadata_xml, 'metadata_xml')
    const key = await provider.secret()
    return [...certificateFindings(metadata, clock.now()), ...keyFindings({ key, settings, metadata }, clock.now())]
  } catch (error) {
    const seen = error instanceof ApiError ? error.message.replace(/\.$/, '') : 'the metadata cannot be read'
    return [wrong('sso-saml-metadata', seen)]
  }
}

/** One certificate that serves is enough; all of them end when the last one does. */
function certificateFindings({ certificates }: IdpMetadata, nowMs: number): readonly SsoFinding[] {
  const last = Math.max(...certificates.map((pem) => Date.parse(certificateFacts(pem).valid_until)))
  if (last <= nowMs) return [wrong('sso-saml-certificate', `the last of ${certificates.length} ended on ${dayOf(last)}`)]
  return last - nowMs > soonMs ? [] : [careful('sso-saml-certificate', `the last of ${certificates.length} ends on ${dayOf(last)}`)]
}

interface OwnKey {
  readonly key: string | null
  readonly settings: SamlSettings
  readonly metadata: IdpMetadata
}

function keyFindings({ key, settings: { sp_certificate: certificate, sign_requests: signs }, metadata }: OwnKey, nowMs: number) {
  if (key === null || certificate === null)
    return (signs ?? metadata.wantsSignedRequests) ? [wrong('sso-saml-key', 'requests are to be signed, and there is no key')] : []
  if (!isPair({ privateKey: key, certificate })) return [wrong('sso-saml-key', 'the key does not fit its certificate')]
  const until = Date.parse(certificateFacts(certificate).valid_until)
  return until - nowMs > soonMs ? [] : [careful('sso-saml-key', `the certificate of Gatehouse ends on ${dayOf(until)}`)]
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
