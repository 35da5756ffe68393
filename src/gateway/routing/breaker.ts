/** When a target is left out because it fails. */
export interface BreakerRule {
  /** Failures within a window that open it; null: a share alone does. */
  readonly failures: number | null
  /** Share of failures, 0 to 1, that opens it. */
  readonly share: number | null
  /** Requests within a window before it can open. */
  readonly leastRequests: number
  /** Milliseconds for which it stays open. */
  readonly cooldownMs: number
  /** Null: every status of 500 and more. */
  readonly statuses: ReadonlySet<number> | null
}

/** State of one target's breaker, as `/metrics` and `GET /v1/breakers` show it. */
export interface BreakerState {
  readonly target: string
  readonly state: 'closed' | 'open' | 'half-open'
  /** Epoch milliseconds; null while it is closed. */
  readonly openedAt: number | null
  readonly requests: number
  readonly failures: number
}

/** A message between processes. */
export type BreakerChange =
  | { readonly target: string; readonly kind: 'opened'; readonly openedAt: number; readonly until: number }
  | { readonly target: string; readonly kind: 'closed' }

/** The breakers of a process. Times are epoch milliseconds, since processes share them. */
export interface Breakers {
  /** Returns false while the target is to be left out. Has no effect on the state. */
  admits(target: string, now: number): boolean
  /** Notes that a try begins. Returns true if the breaker is open, so that this try proves whether the target works again. */
  begin(target: string, now: number): boolean
  /** Notes how a try ended. Returns the change for the other processes, or null. */
  end(target: string, rule: BreakerRule, ended: EndedTry): BreakerChange | null
  /** Notes that a probe ended without a result for its target, so that another may begin. */
  abandon(target: string): void
  /** Takes over a change of another process. */
  apply(change: BreakerChange): void
  /** Since when the target is open; Infinity when it is not. */
  openedAt(target: string): number
  states(now: number): readonly BreakerState[]
  /** Closes a breaker by hand. Returns the change for the other processes, or null when it was closed. */
  reset(target: string): BreakerChange | null
}

export interface EndedTry {
  readonly failed: boolean
  /** The result of `begin`. */
  readonly probe: boolean
  readonly now: number
}

/** Requests and failures are counted in windows of this many milliseconds; the one before counts with the share that still overlaps. */
const windowMs = 60_000

interface Entry {
  startedAt: number
  requests: number
  failures: number
  requestsBefore: number
  failuresBefore: number
  openedAt: number
  /** Infinity: closed. */
  until: number
  /** When the probe began; 0 when there is none. */
  probeAt: number
}

/** A probe that never ended (its process was killed, its caller left) makes room for another after so many milliseconds. */
const longestProbeMs = 60_000

/** Makes the breakers of a process, for at most so many targets; the ones that were used first are forgotten first. */
export function createBreakers(mostTargets: number): Breakers {
  const entries = new Map<string, Entry>()
  const entryOf = (target: string, now: number): Entry => {
    const found = entries.get(target)
    if (found !== undefined) return turned(found, now)
    for (const oldest of entries.keys()) {
      if (entries.size < mostTargets) break
      entries.delete(oldest)
    }
    const entry = { ...closed, startedAt: now }
    entries.set(target, entry)
    return entry
  }
  return {
    admits: (target, now) => admits(entries.get(target), now),
    begin(target, now) {
      const entry = entries.get(target)
      if (entry === undefined || !isOpen(entry)) return false
      entry.probeAt = now
      return true
    },
    end(target, rule, { failed, probe, now }) {
      const entry = entryOf(target, now)
      if (isOpen(entry)) return probe ? endProbe(target, entry, { failed, now, rule }) : null
      entry.requests += 1
      if (failed) entry.failures += 1
      return failed && mustOpen(entry, rule, now) ? open(target, entry, { now, rule }) : null
    },
    abandon(target) {
      const entry = entries.get(target)
      if (entry !== undefined) entry.probeAt = 0
    },
    apply(change) {
      if (change.kind === 'closed') entries.delete(change.target)
      else Object.assign(entryOf(change.target, change.openedAt), { openedAt: change.openedAt, until: change.until, probeAt: 0 })
    },
    openedAt(target) {
      const entry = entries.get(target)
      return entry !== undefined && isOpen(entry) ? entry.openedAt : Infinity
    },
    states: (now) => [...entries].map(([target, entry]) => stateOf(target, turned(entry, now), now)),
    reset(target) {
      const entry = entries.get(target)
      entries.delete(target)
      return entry !== undefined && isOpen(entry) ? { target, kind: 'closed' } : null
    },
  }
}

const closed: Entry = {
  startedAt: 0,
  requests: 0,
  failures: 0,
  requestsBefore: 0,
  failuresBefore: 0,
  openedAt: Infinity,
  until: Infinity,
  probeAt: 0,
}

const isOpen = ({ until }: Entry): boolean => until !== Infinity

const isProbing = ({ probeAt }: Entry, now: number): boolean => probeAt !== 0 && now - probeAt < longestProbeMs

const admits = (entry: Entry | undefined, now: number): boolean =>
  entry === undefined || !isOpen(entry) || (now >= entry.until && !isProbing(entry, now))

interface Turn {
  readonly rule: BreakerRule
  readonly now: number
}

function open(target: string, entry: Entry, { now, rule }: Turn): BreakerChange {
  Object.assign(entry, { openedAt: now, until: now + rule.cooldownMs, probeAt: 0 })
  return { target, kind: 'opened', openedAt: now, until: entry.until }
}

/** A success closes the breaker and forgets the failures; a failure after the cooldown opens it for another one. */
function endProbe(target: string, entry: Entry, turn: Turn & { readonly failed: boolean }): BreakerChange | null {
  if (!turn.failed) {
    Object.assign(entry, { ...closed, startedAt: turn.now })
    return { target, kind: 'closed' }
  }
  entry.probeAt = 0
  return turn.now < entry.until ? null : open(target, entry, turn)
}

function mustOpen(entry: Entry, { failures, share, leastRequests }: BreakerRule, now: number): boolean {
  const overlap = Math.max(0, 1 - (now - entry.startedAt) / windowMs)
  const requests = entry.requests + entry.requestsBefore * overlap
  const failed = entry.failures + entry.failuresBefore * overlap
  if (requests < leastRequests) return false
  return (failures !== null && failed >= failures) || (share !== null && failed / requests >= share)
}

function turned(entry: Entry, now: number): Entry {
  const passed = Math.floor((now - entry.startedAt) / windowMs)
  if (passed < 1) return entry
  const [requestsBefore, failuresBefore] = passed === 1 ? [entry.requests, entry.failures] : [0, 0]
  return Object.assign(entry, { requestsBefore, failuresBefore, requests: 0, failures: 0, startedAt: entry.startedAt + passed * windowMs })
}

const stateOf = (target: string, entry: Entry, now: number): BreakerState => ({
  target,
  state: !isOpen(entry) ? 'closed' : now < entry.until ? 'open' : 'half-open',
  openedAt: isOpen(entry) ? entry.openedAt : null,
  requests: entry.requests + entry.requestsBefore,
  failures: entry.failures + entry.failuresBefore,
})
