import { createWeighed } from '../../../lib/collections/weighed.ts'
import type { RpcAnswer, RpcId } from '../protocol/messages.ts'

/** The part of a legacy client's session that this process alone has: all else is in its id. */
export interface LocalSession {
  /** The level from which on it wants log messages; null: it has set none. */
  logLevel: string | null
  /** The resources whose changes it wants. */
  readonly uris: Set<string>
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

/** The sessions of one process. */
export interface LocalSessions {
  of(organisationId: string, sessionId: string): LocalSession
}

/** Keeps so many, half of them of one organisation; the one that was used longest ago makes room, and begins anew when it comes again. */
export function createLocalSessions(most: number): LocalSessions {
  const kept = createWeighed<LocalSession>({ most, mostOfOne: Math.max(1, Math.ceil(most / 2)) })
  return {
    of(organisationId, sessionId) {
      const held = kept.get(organisationId, sessionId)
      if (held !== undefined) return held
      const made: LocalSession = { logLevel: null, uris: new Set(), calls: new Map(), questions: new Map(), stream: null, isEnded: false }
      kept.set(organisationId, sessionId, { value: made, weight: 1 })
      return made
    },
  }
}
