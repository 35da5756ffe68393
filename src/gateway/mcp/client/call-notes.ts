import { type HookResults, noHooks } from '../../checks/hook-results.ts'

/** The last that is known of a call at its server. A question of a server of the modern era ends its work; that of one of before does not. */
export type CallProgress = 'unsent' | 'sent' | 'refused' | 'asked' | 'answered'

/** Facts of a call for its log, as they come. */
export interface CallNotes {
  /** When the first request for it went to the server, also one by which the server is asked about itself. */
  sentAt: number | null
  progress: CallProgress
  serverRevision: string | null
  /** The results of guardrails. */
  hooks: HookResults
  /** True if a guardrail has denied it. */
  isDenied: boolean
  /** The tokens that the context of a model is spared by the search of tools; null: it lists them all. */
  tokensSaved: number | null
}

/** Returns the notes of a call that begins. */
export const newNotes = (): CallNotes => ({
  sentAt: null,
  progress: 'unsent',
  serverRevision: null,
  hooks: noHooks,
  isDenied: false,
  tokensSaved: null,
})

/** Notes that a request goes to the server. */
export function noteSent(noted: CallNotes): void {
  noted.sentAt ??= performance.now()
}
