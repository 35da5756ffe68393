import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiError } from '../../lib/errors.ts'
import { toApiError } from '../../lib/errors.ts'
import type { Egress } from '../egress/egress.ts'
import { reasonOf, secretFault, type FaultReason } from './fault.ts'
import { createSealedMemory, type SealedMemory } from './sealed-memory.ts'
import type { SecretReference } from './secret-reference.ts'
import type { SecretSource } from './secret-source.ts'

/** Durations in milliseconds. */
export interface SecretTimes {
  /** So long a value is believed; about a fifth before that it is asked for again. */
  readonly ttlMs: number
  /** So long after that it still serves while the manager does not give it. */
  readonly maxStaleMs: number
  /** The longest wait for a manager, sign-in included. */
  readonly timeoutMs: number
}

/** The outcome of a question to a manager. */
export interface SecretOutcome {
  readonly reference: SecretReference
  /** Null: the manager gave the secret. */
  readonly fault: { readonly reason: FaultReason; readonly message: string } | null
  /** True if the last good value serves in place of the one that did not come. */
  readonly isStale: boolean
}

export interface SecretCacheOptions {
  readonly times: SecretTimes
  /** Asks the manager. Rejects as `SecretSource.read` does. */
  readonly fetch: (reference: SecretReference, egress: Egress) => Promise<string>
  /** Epoch milliseconds. */
  readonly now: () => number
  /** From 0 to 1. */
  readonly random?: () => number
  /** Called with each answer of a manager, and each that did not come. */
  readonly onOutcome?: (outcome: SecretOutcome) => void
}

export interface SecretCache extends SecretSource {
  /** Values that are held. */
  size(): number
  /** Values that serve although they should have been replaced. */
  stale(): number
  /** Secrets whose last question failed, with a value that serves or without. */
  failing(): number
}

interface HeldSecret {
  readonly sealed: Buffer
  readonly refreshAt: number
  readonly expiresAt: number
}

interface Entry {
  held: HeldSecret | null
  /** The failure of the last time; null: the manager gave the secret. */
  failure: { readonly error: ApiError; readonly times: number; readonly retryAt: number } | null
  fetching: Promise<string> | null
  /** When a refusal by the provider last asked the manager. */
  renewedAt: number
}

interface State extends SecretCacheOptions {
  readonly memory: SealedMemory
  /** By fingerprint, the one that was used longest ago first. */
  readonly entries: Map<string, Entry>
  readonly random: () => number
}

const mostEntries = 10_000
const firstRetryMs = 1000
const longestRetryMs = 60_000
/** A provider that refuses a good credential must not make every request a question to the manager. */
const leastRenewMs = 3000

/** Holds secrets sealed in memory. A manager that is away, late or refuses costs no request more than one wait, and none while a good value is held. */
export function createSecretCache(options: SecretCacheOptions): SecretCache {
  const state: State = { random: Math.random, ...options, memory: createSealedMemory(), entries: new Map() }
  return {
    read: (reference, egress) => read(state, reference, egress),
    async renew(reference, egress) {
      const entry = entryOf(state, reference.fingerprint)
      if (entry.fetching === null) {
        if (state.now() - entry.renewedAt < leastRenewMs) return
        entry.renewedAt = state.now()
      }
      await ask(state, entry, { reference, egress }).catch(() => {})
    },
    size: () => [...state.entries.values()].filter(({ held }) => held !== null).length,
    failing: () => [...state.entries.values()].filter(({ failure }) => failure !== null).length,
    stale: () => [...state.entries.values()].filter(({ held }) => held !== null && held.expiresAt <= state.now()).length,
  }
}

function entryOf({ entries }: State, fingerprint: string): Entry {
  const found = entries.get(fingerprint)
  if (found !== undefined) {
    // The order of use matters only near the bound.
    if (entries.size * 2 > mostEntries) {
      entries.delete(fingerprint)
      entries.set(fingerprint, found)
    }
    return found
  }
  const made: Entry = { held: null, failure: null, fetching: null, renewedAt: -Infinity }
  for (const oldest of entries.keys()) {
    if (entries.size < mostEntries) break
    entries.delete(oldest)
  }
  entries.set(fingerprint, made)
  return made
}

interface SecretRequest {
  readonly reference: SecretReference
  readonly egress: Egress
}

function read(state: State, reference: SecretReference, egress: Egress): string | Promise<string> {
  const entry = entryOf(state, reference.fingerprint)
  const { held, failure } = entry
  const now = state.now()
  const asked = { reference, egress }
  const isDue = failure === null || failure.retryAt <= now
  if (held === null || now >= held.expiresAt + state.times.maxStaleMs) {
    entry.held = null
    if (failure !== null && !isDue) throw failure.error
    return ask(state, entry, asked)
  }
  const isExpired = now >= held.expiresAt
  if (isExpired && failure === null) return askOrLastGood(state, entry, { ...asked, held })
  // No request waits for a manager that failed before the value expired: it is asked beside the requests.
  if (isDue && (isExpired || now >= held.refreshAt)) askAside(state, entry, asked)
  return state.memory.open(held.sealed)
}

/** The value serves on unless the manager reports that the secret is gone. */
const askOrLastGood = (state: State, entry: Entry, { held, ...asked }: SecretRequest & { readonly held: HeldSecret }): Promise<string> =>
  ask(state, entry, asked).catch((error: unknown) => {
    if (entry.held === null) throw error
    return state.memory.open(held.sealed)
  })

const askAside = (state: State, entry: Entry, asked: SecretRequest): void => void ask(state, entry, asked).catch(() => {})

/** Asks the manager once for all concurrent requests for the secret. */
function ask(state: State, entry: Entry, asked: SecretRequest): Promise<string> {
  if (entry.fetching !== null) return entry.fetching
  entry.fetching = within(state.times.timeoutMs, state.fetch(asked.reference, asked.egress))
    .then((text) => keep(state, entry, { ...asked, text }))
    .catch((error: unknown) => {
      throw fail(state, entry, { ...asked, error: toApiError(error) })
    })
    .finally(() => (entry.fetching = null))
  return entry.fetching
}

/** Rejects when a manager takes too long; its later answer is ignored. */
async function within(timeoutMs: number, fetching: Promise<string>): Promise<string> {
  const ended = new AbortController()
  const late = sleep(timeoutMs, undefined, { signal: ended.signal }).then(() => {
    throw secretFault('away', `The secret manager did not answer within ${timeoutMs / 1000} s.`)
  })
  late.catch(() => {})
  return Promise.race([fetching, late]).finally(() => ended.abort())
}

function keep(state: State, entry: Entry, { reference, text }: SecretRequest & { readonly text: string }): string {
  const { ttlMs } = state.times
  const now = state.now()
  // Processes that read a secret at the same time do not ask for it again at the same time.
  const refreshAt = now + ttlMs * (0.7 + 0.2 * state.random())
  entry.held = { sealed: state.memory.seal(text), refreshAt, expiresAt: now + ttlMs }
  entry.failure = null
  state.onOutcome?.({ reference, fault: null, isStale: false })
  return text
}

function fail(state: State, entry: Entry, { reference, error }: SecretRequest & { readonly error: ApiError }): ApiError {
  const reason = reasonOf(error)
  // A secret that the manager reports as gone is not used any longer.
  if (reason === 'missing') entry.held = null
  const times = (entry.failure?.times ?? 0) + 1
  const delay = Math.min(longestRetryMs, firstRetryMs * 2 ** (times - 1))
  entry.failure = { error, times, retryAt: state.now() + delay * (0.75 + 0.5 * state.random()) }
  state.onOutcome?.({ reference, fault: { reason, message: error.message }, isStale: entry.held !== null })
  return error
}
