import { choice, duration } from './kinds.ts'
import { optional, setting } from './setting.ts'

/** The settings for requests of which nobody can tell yet whether they fit into a limit. */
export const limitSettings = {
  LIMITS_WHEN_UNAVAILABLE: optional(choice(['deny', 'allow'] as const), {
    desc: 'What becomes of requests under limits while the database is away and the process holds no slice of them any more. `deny` answers 503, `allow` lets them pass uncounted. Unset: usage limits deny, rate limits allow.',
    example: 'deny',
  }),
  LIMITS_SETTLE_WAIT: setting(duration(0), '2s', {
    desc: 'How long a request waits at most when only what other requests have reserved keeps it out of a usage limit: answers use less than is reserved for them. Then it is refused, with `retry-after`. `0` refuses it at once.',
    example: '0',
  }),
}
