import type { McpHead } from './caller.ts'
import type { LegacyClient } from './legacy-session-id.ts'
import type { LocalSession } from './local-sessions.ts'
import type { McpParts } from './parts.ts'

/** The way to a legacy client for the messages of its calls: the answer to its request, or the stream of 2024-11-05. */
export interface LegacyEar {
  /** Returns false if the client takes no message before the end of its call. */
  canHear(): boolean
  say(text: string): void
  /** Gives the last message of a call. */
  finish(status: number, text: string, headers: readonly string[]): void
  isLeft(): boolean
  isStream(): boolean
  sent(): { readonly bytes: number; readonly firstByteAt: number | null }
}

/** A legacy client in one request. */
export interface LegacyTalk {
  readonly parts: McpParts
  readonly head: McpHead
  readonly client: LegacyClient
  /** Null: it keeps no session, or has begun none yet. */
  readonly session: LocalSession | null
}
