import { isStoredKind, storedKinds, type StoredKindName } from '../lib/stored-kinds.ts'
import { choice, duration, fault, integer, type Kind, list, quoted, size } from './kinds.ts'
import { optional, setting } from './setting.ts'

const MiB = 1024 * 1024

/** The bound of a kind of stored things. */
export interface StoredBound {
  readonly kind: StoredKindName
  readonly most: number
}

const storedBound: Kind<StoredBound> = {
  name: '`kind=number`',
  schema: { type: 'string', pattern: '^[a-z_]+ *= *[0-9]{1,9}$' },
  parse(input) {
    const [, kind = '', most = ''] = /^([a-z_]+) *= *(\d{1,9})$/.exec(input) ?? []
    if (!isStoredKind(kind))
      return fault(`${quoted(input)} is none of ${Object.keys(storedKinds).join(', ')}, with = and a number behind it`)
    return { kind, most: Number(most) }
  },
}

/** The settings for requests that cannot be checked against a limit yet. */
export const limitSettings = {
  LIMITS_WHEN_UNAVAILABLE: optional(choice(['deny', 'allow'] as const), {
    desc: 'The fate of requests under limits while the database is away and the process holds no slice of them any more. `deny` answers 503, `allow` lets them pass uncounted. Unset: usage limits deny, rate limits allow.',
    example: 'deny',
  }),
  LIMITS_SETTLE_WAIT: setting(duration(0), '2s', {
    desc: 'How long a request waits at most when only the reservations of other requests keep it out of a usage limit: answers use less than their reservations. Then it is refused, with `retry-after`. `0` refuses it at once.',
    example: '0',
  }),
  STORED_ITEMS_MAX: setting(list(storedBound), '', {
    desc: 'How many rows of a kind one organisation may store, where it is not the usual number, see [sizing](../operations/sizing.md#what-organisations-store). Existing rows beyond it stay and work; only further ones are refused.',
    example: 'alert_webhooks=50, configs=100000',
  }),
  KEPT_RESPONSES_STORED_IN_MB: setting(size(MiB, { least: 1, most: 1_048_576 }), '4096', {
    desc: 'The most responses of one organisation that Gatehouse keeps for `GET /v1/responses/{id}`. A job deletes the oldest ones above it every ten minutes.',
    example: '16384',
  }),
  FILES_STORED_IN_MB: setting(size(MiB, { least: 1, most: 1_048_576 }), '16384', {
    desc: 'The most files of one organisation that Gatehouse keeps for `POST /v1/files`. Uploads and new batches beyond it are refused. Results may pass it by a quarter; then lines of batches wait.',
    example: '65536',
  }),
  FILES_OF_WORKSPACE_STORED_IN_MB: setting(size(MiB, { least: 1, most: 1_048_576 }), '8192', {
    desc: 'The same for one workspace.',
    example: '16384',
  }),
  BATCH_LINES_AT_ONCE: setting(integer(0, 1000), '16', {
    desc: 'How many lines of batches that Gatehouse runs itself one process has on their way at a time, as far as requests of callers leave room: each of them takes the place of a line, up to half of them. One organisation has at most three quarters. `0`: this process runs none.',
    example: '64',
  }),
  TRACE_SPANS_STORED_IN_MB: setting(size(MiB, { least: 1, most: 1_048_576 }), '8192', {
    desc: 'The most spans of one organisation that Gatehouse keeps of those that clients send by OTLP. A job deletes the oldest ones above it every hour.',
    example: '32768',
  }),
}
