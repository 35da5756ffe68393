import { parseAnswer } from '../../lib/json/json.ts'
import { rememberExact } from '../../lib/json/exact-json.ts'
import type { ByteList } from '../../lib/collections/byte-list.ts'
import { ApiError, toApiError } from '../../lib/errors.ts'
import type { DialectId } from '../dialects/dialect.ts'
import type { NeutralError } from '../dialects/neutral/error.ts'
import { namesContextWindow } from '../dialects/provider-error.ts'
import { decompress } from '../wire/encoding.ts'
import { headerValue, type HeaderList } from '../wire/header-list.ts'

/** Takes out the text of a body that was held. */
export function textOf(held: ByteList, rawHeaders: HeaderList): string {
  const encoding = headerValue(rawHeaders, 'content-encoding')?.toLowerCase()
  const bytes = held.join()
  held.clear()
  return (encoding === undefined || encoding === 'identity' ? bytes : decompress(bytes, encoding)).toString('utf8')
}

/** Returns a body as JSON, or as its text. */
export function jsonIn(text: string): unknown {
  try {
    const json = parseAnswer(text)
    rememberExact(json, text)
    return json
  } catch {
    return text
  }
}

/** Values that are nested so deeply that they cannot be written again are the provider's fault, and not ours. */
export const toAnswerFault = (thrown: unknown): ApiError =>
  thrown instanceof RangeError
    ? new ApiError('upstream_bad_response', 'The provider answered with values that are too long, or nested too deeply.', { cause: thrown })
    : toApiError(thrown)

/** Returns the status of a failure for a client: only Anthropic's support 529, and a response that is too long for its model is a 400. */
export function statusFor(client: DialectId, error: NeutralError): number {
  if (error.status === 529 && client !== 'anthropic') return 503
  if (error.status === 424) return 502
  return client === 'openai-responses' && error.status < 500 && namesContextWindow(error) ? 400 : error.status
}
