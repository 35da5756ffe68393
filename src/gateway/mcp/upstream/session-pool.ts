import { ApiError } from '../../../lib/errors.ts'
import { createShares, type Shares } from '../../../lib/shares/shares.ts'
import { placesOf } from '../protocol/places.ts'
import { bytesOfFacts } from './facts.ts'
import type { LegacySession } from './legacy-session.ts'

/** The open sessions with legacy servers, each of one principal, server and credential. */
export interface SessionPool {
  /** Returns the session with a key, opened if there is none. Callers that ask at the same time share one. */
  get(of: PooledFor, open: () => Promise<LegacySession>): Promise<LegacySession>
  /** Forgets a session that is of no use any more. */
  drop(key: string, session: LegacySession): void
  size(): number
  close(): Promise<void>
}

interface PooledFor {
  readonly key: string
  readonly organisationId: string
  /** The bytes of all that it keeps of its server and its client. */
  readonly bytes: number
}

interface PooledSession {
  readonly organisationId: string
  readonly bytes: number
  /** The places that it has taken. */
  places: number
  readonly opening: Promise<LegacySession>
  session: LegacySession | null
  usedAt: number
}

export interface PoolBounds {
  readonly most: number
  readonly idleMs: number
}

/** Makes an empty pool, of which one organisation gets half. */
export const createSessionPool = (bounds: PoolBounds): SessionPool => new Pool(bounds)

/** The time between looks at unused sessions, within bounds. */
const lookMs = { least: 100, most: 30_000 }

/** A class, because it keeps the sessions. */
class Pool implements SessionPool {
  readonly #pooled = new Map<string, PooledSession>()
  readonly #shares: Shares
  readonly #idleMs: number
  #timer: NodeJS.Timeout | null = null

  constructor({ most, idleMs }: PoolBounds) {
    this.#shares = createShares({ most, mostOfOne: Math.max(1, Math.ceil(most / 2)) })
    this.#idleMs = idleMs
  }

  async get(of: PooledFor, open: () => Promise<LegacySession>): Promise<LegacySession> {
    const { key } = of
    if (this.#pooled.get(key)?.session?.isOver() === true) this.#remove(key, unused())
    const entry = this.#pooled.get(key) ?? this.#add(of, open)
    entry.usedAt = performance.now()
    // The one that was used last stands last.
    if (this.#pooled.delete(key)) this.#pooled.set(key, entry)
    return entry.opening
  }

  #add({ key, organisationId, bytes }: PooledFor, open: () => Promise<LegacySession>): PooledSession {
    if (!this.#take(organisationId, 1)) throw tooMany()
    const entry: PooledSession = { organisationId, bytes, places: 1, opening: open(), session: null, usedAt: performance.now() }
    this.#pooled.set(key, entry)
    this.#timer ??= setInterval(() => this.#sweep(), Math.max(lookMs.least, Math.min(this.#idleMs / 2, lookMs.most))).unref()
    void this.#settle(key, entry)
    return entry
  }

  async #settle(key: string, entry: PooledSession): Promise<void> {
    try {
      const session = await entry.opening
      const more = placesOf(entry.bytes + bytesOfFacts(session.facts)) - 1
      if (this.#pooled.get(key) !== entry) session.end(unused())
      else if (this.#take(entry.organisationId, more)) entry.places += more
      else {
        this.#remove(key, tooMany())
        session.end(tooMany())
      }
      entry.session = session
    } catch {
      if (this.#pooled.get(key) === entry) this.#remove(key, unused())
    }
  }

  /** Takes places, or none; unused sessions of the organisation make room. */
  #take(organisationId: string, places: number): boolean {
    for (let taken = 0; taken < places; taken += 1) {
      if (!this.#shares.hasPlace(organisationId)) this.#makeRoom(organisationId)
      if (this.#shares.take(organisationId)) continue
      this.#giveBack(organisationId, taken)
      return false
    }
    return true
  }

  #giveBack(organisationId: string, places: number): void {
    for (let left = places; left > 0; left -= 1) this.#shares.giveBack(organisationId)
  }

  /** Closes the session of an organisation that was unused for longest. */
  #makeRoom(organisationId: string): void {
    for (const [key, entry] of this.#pooled)
      if (entry.organisationId === organisationId && entry.session?.users() === 0) {
        this.#remove(key, unused())
        return
      }
  }

  #remove(key: string, error: ApiError): void {
    const found = this.#pooled.get(key)
    if (found === undefined) return
    this.#pooled.delete(key)
    this.#giveBack(found.organisationId, found.places)
    found.session?.end(error)
  }

  /** Closes the sessions that were not used for long. */
  #sweep(): void {
    const now = performance.now()
    for (const [key, entry] of this.#pooled) {
      if (entry.session === null) continue
      if (entry.session.users() > 0 && !entry.session.isOver()) entry.usedAt = now
      else if (entry.session.isOver() || now - entry.usedAt > this.#idleMs) this.#remove(key, unused())
    }
    if (this.#pooled.size === 0) this.#stop()
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  drop(key: string, session: LegacySession): void {
    if (this.#pooled.get(key)?.session === session) this.#remove(key, unused())
  }

  size(): number {
    return this.#pooled.size
  }

  async close(): Promise<void> {
    this.#stop()
    for (const key of this.#pooled.keys()) this.#remove(key, new ApiError('draining', 'The gateway is shutting down.'))
  }
}

const tooMany = () =>
  new ApiError('rate_limited', 'Too many sessions with MCP servers are open (MAX_MCP_SESSIONS). Try again shortly.', { retryAfter: 5 })
const unused = () => new ApiError('upstream_bad_response', 'The session with the MCP server has ended.')
