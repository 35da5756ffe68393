import type { Readable } from 'node:stream'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import { ApiError, retryHeaders } from '../../lib/errors.ts'
import { hasTooManyValues, mostValues } from '../../lib/json/many-values.ts'
import { longTurns } from '../../lib/shares/long-turns.ts'
import { headerRecord } from '../wire/header-list.ts'

/** An error as the events of a connection have it. */
export interface SocketError {
  readonly status: number
  readonly error: Fields
}

/** Headers of an answer by which clients decide when to try again, and how to ask about it. */
const shown = /^(?:retry-after(?:-ms)?|x-should-retry|x-request-id|x-ratelimit-.*|x-.*-(?:trace-id|request-id|provider))$/

/** Returns one of our own errors. `code`: in place of its own. */
export const ownError = (error: ApiError, code: string = error.code): SocketError => ({
  status: error.status,
  error: { type: error.type, code, message: error.message, param: error.param, headers: retryHeaders(error) },
})

/** Returns the error of an answer, which is the provider's, or ours in the form of OpenAI. */
export function errorOfAnswer({
  status,
  headers,
  text,
}: {
  readonly status: number
  readonly headers: readonly string[]
  readonly text: string
}): SocketError {
  const json = jsonOrUndefined(text)
  const told = isFields(json) && isFields(json['error']) ? json['error'] : {}
  const record = Object.entries(headerRecord(headers)).filter(([name]) => shown.test(name))
  return {
    status,
    error: {
      ...told,
      type: told['type'] ?? (status >= 500 ? 'server_error' : 'invalid_request_error'),
      code: told['code'] ?? null,
      message: told['message'] ?? (text === '' ? `The provider answered ${status}.` : text.slice(0, longestText).toWellFormed()),
      param: told['param'] ?? null,
      headers: Object.fromEntries(record),
    },
  }
}

const longestText = 2000

/** Returns an error as the text of its event; `lane`: the one that the client named, if it was a text. */
export const errorEvent = ({ status, error }: SocketError, lane: unknown): string =>
  JSON.stringify({ type: 'error', status, error, ...(typeof lane === 'string' && { stream_id: lane }) })

/** More of an answer that is no stream is not read. */
const longestWhole = 64 * 1024 * 1024

/** Returns the text of an answer that is no stream, in a turn to read it if it is long. Throws for one that has too many values. */
export async function textOf(body: Readable, organisationId: string): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    if (!Buffer.isBuffer(chunk)) continue
    size += chunk.length
    if (size > longestWhole) break
    parts.push(chunk)
  }
  await longTurns.before(organisationId, size)
  const text = Buffer.concat(parts).toString()
  if (hasTooManyValues(text)) throw new ApiError('upstream_bad_response', `The answer of the provider has more than ${mostValues} values.`)
  return text
}
