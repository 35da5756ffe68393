import { createWeighed } from '../../../lib/collections/weighed.ts'
import { modernRevisions } from '../protocol/revisions.ts'
import { ApiError } from '../../../lib/errors.ts'
import { bytesOfFacts } from './facts.ts'
import { createKnownParams, type KnownParams } from './known-params.ts'
import { discoverModern, factsOfDiscovery } from './modern-link.ts'
import type { HttpDeps } from './post.ts'
import type { ServerFacts, UpstreamPeer } from './upstream-request.ts'

/** The finding how a server speaks. */
export type EraVerdict =
  | { readonly era: 'legacy' }
  /** `bytes`: of the facts. */
  | { readonly era: 'modern'; readonly facts: ServerFacts; readonly bytes: number; readonly params: KnownParams }

/** A server with its credential, of which an organisation may have many. */
export interface CredentialOwner {
  readonly organisationId: string
  readonly credential: string
}

/** The findings so far, by server and credential. */
export interface Eras {
  get(owner: CredentialOwner): EraVerdict | undefined
  set(owner: CredentialOwner, verdict: EraVerdict): void
  /** Weighs a finding anew, if it is still kept. */
  weigh(owner: CredentialOwner, verdict: EraVerdict): void
  forget(owner: CredentialOwner): void
}

/** Callers may vary credentials, and servers state long facts: findings are kept by their bytes, and those of one organisation in its share. */
const bounds = { most: 64 * 1024 * 1024, mostOfOne: 16 * 1024 * 1024 }
/** The bytes of a finding beside its facts. */
const usualBytes = 1024
/** A server may be upgraded: a legacy one is tried anew after so long, and a modern one is asked about itself. */
const legacyMs = 60 * 60 * 1000
const modernMs = 5 * 60 * 1000

interface KeptVerdict {
  readonly verdict: EraVerdict
  /** Epoch milliseconds. */
  readonly until: number
}

/** Keeps findings for a while. */
export function createEras(now: () => number): Eras {
  const kept = createWeighed<KeptVerdict>(bounds)

  function find({ organisationId, credential }: CredentialOwner): KeptVerdict | null {
    const found = kept.get(organisationId, credential)
    if (found === undefined || found.until > now()) return found ?? null
    kept.remove(organisationId, credential)
    return null
  }

  const keep = ({ organisationId, credential }: CredentialOwner, value: KeptVerdict): void =>
    kept.set(organisationId, credential, { value, weight: weightOf(value.verdict) })

  return {
    get: (owner) => find(owner)?.verdict,
    set(owner, verdict) {
      if (find(owner)?.verdict !== verdict) keep(owner, { verdict, until: now() + (verdict.era === 'legacy' ? legacyMs : modernMs) })
    },
    weigh(owner, verdict) {
      const found = find(owner)
      if (found?.verdict === verdict) keep(owner, found)
    },
    forget: ({ organisationId, credential }) => kept.remove(organisationId, credential),
  }
}

const weightOf = (verdict: EraVerdict): number => usualBytes + (verdict.era === 'legacy' ? 0 : verdict.bytes + verdict.params.bytes())

const legacy: EraVerdict = { era: 'legacy' }

/**
 * Finds out how a server speaks: a modern server answers `server/discover`, or refuses it in a way that only a modern one has. Any other refusal is
 * that of a legacy server. Rejects when the server could not be asked.
 */
export async function findEra(deps: HttpDeps, peer: UpstreamPeer, signal: AbortSignal): Promise<EraVerdict> {
  const [newest] = modernRevisions
  try {
    const answer = await discoverModern(deps, peer, { revision: newest, signal })
    if ('error' in answer) return legacy
    const told = answer.result['supportedVersions']
    const shared = Array.isArray(told) ? modernRevisions.find((revision) => told.includes(revision)) : undefined
    if (shared === undefined) return legacy
    const facts = factsOfDiscovery(answer.result, shared)
    return { era: 'modern', facts, bytes: bytesOfFacts(facts), params: createKnownParams() }
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.code === 'upstream_bad_response') return legacy
    throw thrown
  }
}
