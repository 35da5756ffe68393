import { createLocalJWKSet, errors, type FlattenedJWSInput, type JSONWebKeySet, type JWTHeaderParameters } from 'jose'
import { z } from 'zod'
import { endsWithin } from '../../lib/ends-within.ts'
import type { Egress } from '../egress/egress.ts'
import type { HostSource } from '../egress/guard.ts'

type LocalKeys = ReturnType<typeof createLocalJWKSet>
type Key = Awaited<ReturnType<LocalKeys>>

/** Finds the key of a token. Rejects with a jose error when there is none, with another when the keys cannot be had. */
export type FindKey = (header: JWTHeaderParameters, token: FlattenedJWSInput) => Promise<Key>

export interface JwksOptions {
  readonly egress: Egress
  readonly url: string
  /** The owner whose memory the keys take: an owner cannot push out the keys of another. */
  readonly owner: string
  /** How long fetched keys are believed without asking again. */
  readonly maxAgeMs: number
  readonly timeoutMs: number
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Absent: by data. */
  readonly named?: HostSource
  /** The authorities of the issuer's certificate, PEM; absent: the usual ones. */
  readonly ca?: string | undefined
}

/** A token with an unknown key id asks again no sooner than this, so that strangers cannot make us call. */
const cooldownMs = 30_000
/** The pause before an issuer without known keys is asked again after a failure. */
const retryMs = 1000
/** An issuer that is slow is waited for no longer while there are keys that were good. */
const patienceMs = 500
/** Keys that were good serve so much longer while the issuer cannot be reached. */
const maxStaleMs = 24 * 60 * 60 * 1000
const maxKeys = 100
/** Maximum URLs per owner and maximum owners; the owner with the oldest last new URL is evicted. */
const maxSets = 50
const maxOwners = 5000

interface HeldKeySet {
  keys: LocalKeys | null
  fetchedAt: number
  askedAt: number
  running: Promise<void> | null
}

/** Fetched keys by egress, because they belong to one composed app. */
const byEgress = new WeakMap<Egress, Map<string, Map<string, HeldKeySet>>>()

/** The keys behind a URL. Keys fetched for one who asks serve all of the same owner who name the same URL. */
export function remoteKeys(options: JwksOptions): FindKey {
  const held = heldFor(options)
  const { now, maxAgeMs } = options
  return async (header, token) => {
    if (held.keys === null || now() - held.fetchedAt > maxAgeMs) await refresh(held, options)
    try {
      return await known(held)(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || now() - held.askedAt < cooldownMs) throw error
      await refresh(held, options)
      return known(held)(header, token)
    }
  }
}

function heldFor({ egress, url, owner, ca = '' }: JwksOptions): HeldKeySet {
  const place = `${url} ${ca}`
  const owners = byEgress.get(egress) ?? new Map<string, Map<string, HeldKeySet>>()
  byEgress.set(egress, owners)
  const sets = owners.get(owner) ?? new Map<string, HeldKeySet>()
  const existing = sets.get(place)
  if (existing !== undefined) return existing
  forgetOldest(sets, maxSets)
  owners.delete(owner)
  forgetOldest(owners, maxOwners)
  owners.set(owner, sets)
  const made: HeldKeySet = { keys: null, fetchedAt: -Infinity, askedAt: -Infinity, running: null }
  sets.set(place, made)
  return made
}

function forgetOldest(map: Map<string, unknown>, most: number): void {
  const [oldest] = map.keys()
  if (map.size >= most && oldest !== undefined) map.delete(oldest)
}

function known({ keys }: HeldKeySet): LocalKeys {
  if (keys === null) throw new Error('The keys of the issuer cannot be had.')
  return keys
}

/** Asks once for all concurrent callers; while the issuer cannot be reached, its former keys serve on, and it is asked every half minute. */
async function refresh(held: HeldKeySet, options: JwksOptions): Promise<void> {
  const usable = held.keys !== null && options.now() - held.fetchedAt < options.maxAgeMs + maxStaleMs
  if (held.running === null && options.now() - held.askedAt < (usable ? cooldownMs : retryMs)) {
    known(held)
    if (usable) return
    throw new Error('The keys of the issuer are too old, and newer ones cannot be had.')
  }
  held.running ??= ask(held, options).finally(() => (held.running = null))
  // Keys that were good serve on, so that a failure is not the caller's.
  await (usable
    ? endsWithin(
        patienceMs,
        held.running.catch(() => {}),
      )
    : held.running)
}

const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(maxKeys) })

async function ask(held: HeldKeySet, { egress, url, timeoutMs, now, named = 'by data', ca }: JwksOptions): Promise<void> {
  held.askedAt = now()
  const { status, text } = await egress.exchange({ url, method: 'GET', headers: { accept: 'application/json' }, timeoutMs, named, ca })
  if (status !== 200) throw new Error(`The issuer answered ${status} when asked for its keys.`)
  held.keys = localKeys(JSON.parse(text))
  held.fetchedAt = now()
}

/** Keys that are there already. Throws when they are no JSON Web Key Set. */
export function localKeys(document: unknown): LocalKeys {
  const { keys }: JSONWebKeySet = keySet.parse(document)
  return createLocalJWKSet({ keys })
}
