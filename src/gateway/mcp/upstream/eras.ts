import { createLru } from '../../../lib/collections/lru.ts'
import { modernRevisions } from '../protocol/revisions.ts'
import { ApiError } from '../../../lib/errors.ts'
import { discoverModern, factsOfDiscovery, type KnownParams } from './modern-link.ts'
import type { HttpDeps } from './post.ts'
import type { ServerFacts, UpstreamPeer } from './upstream-request.ts'

/** The finding how a server speaks. */
export type EraVerdict = { readonly era: 'legacy' } | { readonly era: 'modern'; readonly facts: ServerFacts; readonly params: KnownParams }

/** The findings so far, by server and credential. */
export interface Eras {
  get(credential: string): EraVerdict | undefined
  set(credential: string, verdict: EraVerdict): void
  forget(credential: string): void
}

const mostKept = 10_000
/** A server may be upgraded: a legacy one is tried anew after so long, and a modern one is asked about itself. */
const legacyMs = 60 * 60 * 1000
const modernMs = 5 * 60 * 1000

/** Keeps findings for a while. */
export function createEras(now: () => number): Eras {
  const kept = createLru<{ readonly verdict: EraVerdict | null; readonly until: number }>(mostKept)
  const get: Eras['get'] = (credential) => {
    const found = kept.get(credential)
    return found === undefined || found.verdict === null || found.until <= now() ? undefined : found.verdict
  }
  return {
    get,
    set(credential, verdict) {
      if (get(credential) === verdict) return
      kept.set(credential, { verdict, until: now() + (verdict.era === 'legacy' ? legacyMs : modernMs) })
    },
    forget: (credential) => kept.set(credential, { verdict: null, until: 0 }),
  }
}

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
    return { era: 'modern', facts: factsOfDiscovery(answer.result, shared), params: new Map() }
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.code === 'upstream_bad_response') return legacy
    throw thrown
  }
}
