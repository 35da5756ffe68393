import { createWeighed } from '../../../lib/collections/weighed.ts'
import { placesOf } from '../protocol/places.ts'
import type { RpcAnswer, RpcId } from '../protocol/messages.ts'

/** The part of a legacy client's session that this process alone has: all else is in its id. */
export interface LocalSession {
  /** The level from which on it wants log messages; null: it has set none. */
  logLevel: string | null
  /** The resources whose changes it wants. */
  readonly uris: Set<string>
  watchedBytes: number
  /** Its running calls, so that it can cancel them. */
  readonly calls: Map<RpcId, AbortController>
  /** The questions that wait for its answer. */
  readonly questions: Map<string, (answer: RpcAnswer) => void>
  /** Its stream of messages that the server sends by itself; null: it has none here. */
  stream: SessionStream | null
  isEnded: boolean
}

/** The open stream of a session. */
export interface SessionStream {
  /** Writes the text of a message. */
  say(text: string): void
  /** Listens anew, to other resources. */
  listen(): Promise<void>
  end(): void
}

/** One client in an organisation, by the id of its session. */
interface SessionOwner {
  readonly organisationId: string
  readonly sessionId: string
}

/** The sessions of one process. */
export interface LocalSessions {
  of(organisationId: string, sessionId: string): LocalSession
  /** Lets a session watch one more resource. Returns false when it watches as many as it may. */
  watch(owner: SessionOwner, session: LocalSession, uri: string): boolean
  unwatch(owner: SessionOwner, session: LocalSession, uri: string): void
  /** Ends a session: its id stays, so that it does not begin anew. */
  end(owner: SessionOwner, session: LocalSession): void
}

/** One session watches so many resources, whose addresses have so many bytes together. */
export const watchBounds = { uris: 1000, bytes: 256 * 1024, bytesOfOne: 2048 } as const

/**
 * Keeps so many, half of them of one organisation; the one that was used longest ago makes room, and begins anew when it comes again. The addresses of
 * its resources count by `placesOf`.
 */
export function createLocalSessions(most: number): LocalSessions {
  const mostOfOne = Math.max(1, Math.ceil(most / 2))
  const kept = createWeighed<LocalSession>({ most, mostOfOne })
  const weightOf = (session: LocalSession): number => placesOf(session.watchedBytes)
  const weigh = ({ organisationId, sessionId }: SessionOwner, session: LocalSession): void =>
    kept.set(organisationId, sessionId, { value: session, weight: weightOf(session) })
  return {
    watch(owner, session, uri) {
      if (session.uris.has(uri)) return true
      const bytes = session.watchedBytes + Buffer.byteLength(uri)
      if (session.uris.size >= watchBounds.uris || bytes > watchBounds.bytes || placesOf(bytes) > mostOfOne) return false
      session.uris.add(uri)
      session.watchedBytes = bytes
      weigh(owner, session)
      return true
    },
    unwatch(owner, session, uri) {
      if (!session.uris.delete(uri)) return
      session.watchedBytes -= Buffer.byteLength(uri)
      weigh(owner, session)
    },
    end(owner, session) {
      session.isEnded = true
      session.stream?.end()
      for (const call of session.calls.values()) call.abort()
      session.uris.clear()
      session.watchedBytes = 0
      weigh(owner, session)
    },
    of(organisationId, sessionId) {
      const held = kept.get(organisationId, sessionId)
      if (held !== undefined) return held
      const made: LocalSession = {
        logLevel: null,
        uris: new Set(),
        calls: new Map(),
        questions: new Map(),
        stream: null,
        isEnded: false,
        watchedBytes: 0,
      }
      kept.set(organisationId, sessionId, { value: made, weight: weightOf(made) })
      return made
    },
  }
}
