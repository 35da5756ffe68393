import type { Attempt } from '../attempts/attempt.ts'
import type { LoggedAttempt } from '../journal/log-record.ts'
import type { ExchangeEnd, Trail } from '../trail.ts'
import type { Usage } from '../dialects/neutral/usage.ts'
import type { Redaction } from './redact.ts'

/** So much of an error is kept of each attempt. */
const longestError = 1000
/** A model is named by the body, which may be megabytes long. */
export const longestModel = 255

export interface AttemptFacts {
  readonly ending: ExchangeEnd
  /** The usage of the last attempt. */
  readonly usage: Usage | null
  readonly redaction: Redaction
  /** False: words of providers stay out of the log, like bodies. */
  readonly keepsWords: boolean
}

/** Returns the attempts for the log; null when there was only one, which the record itself describes. */
export function loggedAttempts(trail: Trail, facts: AttemptFacts): readonly LoggedAttempt[] | null {
  if (trail.attempts.length < 2 && (trail.attempts[0]?.openedMs ?? null) === null) return null
  const { startedAt } = trail.exchange
  return trail.attempts.map((attempt) => ({ ...targetOf(attempt), ...endOf(attempt, facts), ...timesOf(attempt, startedAt, facts) }))
}

const targetOf = ({ option, target }: Attempt) => ({
  option,
  provider: target?.providerId ?? null,
  providerSlug: target?.view?.slug ?? null,
  model: target?.model?.slice(0, longestModel) ?? null,
})

/** The last attempt ended as the exchange did. */
function endOf({ fault, usage, openedMs }: Attempt, { ending, redaction, keepsWords, usage: last }: AttemptFacts) {
  const { status, relayed, error } = ending
  const { failure, message, bytes } = fault ?? { failure: null, message: error?.message ?? '', bytes: relayed?.capture.size ?? 0 }
  const words = keepsWords && message !== '' ? redaction.text(message).slice(0, longestError) : null
  return {
    status: fault?.status ?? status,
    failure,
    error: words,
    responseBytes: bytes,
    usage: fault === null ? last : usage,
    ...(openedMs !== null && { openedMs }),
  }
}

function timesOf({ sentAt, fault }: Attempt, startedAt: number, { ending }: AttemptFacts) {
  if (sentAt === null) return { startMs: null, durationMs: null }
  const endedAt = fault?.endedAt ?? ending.relayed?.lastByteAt ?? performance.now()
  return { startMs: rounded(sentAt - startedAt), durationMs: rounded(endedAt - sentAt) }
}

/** Microseconds are enough for the log. */
export const rounded = (ms: number): number => Math.round(ms * 1000) / 1000
