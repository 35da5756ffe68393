import { choice } from './kinds.ts'
import { optional } from './setting.ts'

/** The settings for requests of which nobody can tell whether they fit into a limit. */
export const limitSettings = {
  LIMITS_WHEN_UNAVAILABLE: optional(choice(['deny', 'allow'] as const), {
    desc: 'What becomes of requests under limits while the database is away and the process holds no slice of them any more. `deny` answers 503, `allow` lets them pass uncounted. Unset: usage limits deny, rate limits allow.',
    example: 'deny',
  }),
}
