import { isFields } from '../../lib/json/fields.ts'
import type { NeutralError } from './neutral/error.ts'
import { dialects } from './registry.ts'

/** A provider's words for a failure, in any format. */
export interface ProviderError {
  /** An HTTP status that the failure stands for; null: it has none. */
  readonly status: number | null
  readonly kind: 'context_window' | 'content_policy' | 'rate_limit' | null
  readonly message: string
}

/** Returns true if an error means that a request is too long for its model. */
export const namesContextWindow = ({ status, type, code, message }: NeutralError): boolean =>
  status !== 429 &&
  kindOf(
    [type, code].filter((text) => text !== null),
    message,
  ) === 'context_window'

/** Returns the error of a body, or of one event of a stream; null when it is none. */
export function readProviderError(json: unknown): ProviderError | null {
  const found = errorIn(json)
  if (found === null) return null
  // A code is closer than a type: `server_error` may stand beside `rate_limit_exceeded`.
  const texts = [found['code'], found['status'], found['type']].filter((text) => typeof text === 'string')
  const message = typeof found['message'] === 'string' ? found['message'] : ''
  return { status: statusOf(found, texts), kind: kindOf(texts, message), message }
}

type Fields = Readonly<Record<string, unknown>>

/**
 * The places of errors: `{ error: { … } }` (OpenAI, Anthropic, Google), `{ type: 'error', … }` (Responses), in the response of `response.failed`, and
 * bare (Bedrock: `{ message }` beside an exception's type).
 */
function errorIn(json: unknown): Fields | null {
  const first: unknown = Array.isArray(json) ? json[0] : json
  if (!isFields(first)) return null
  const { error, type, response } = first
  if (isFields(error)) return error
  if (typeof error === 'string') return { ...first, message: error }
  if (type === 'error') return first
  return type === 'response.failed' && isFields(response) && isFields(response['error']) ? response['error'] : null
}

/** A word means the same from any provider: an error names no dialect. */
const words = Object.values(dialects).flatMap(({ errors = null }) => (errors === null ? [] : [errors]))
const statuses = new Map(words.flatMap((one) => Object.entries(one.statuses)))
const windowCodes = new Set(words.flatMap(({ contextWindow = [] }) => contextWindow))
const policyCodes = new Set(words.flatMap(({ contentPolicy = [] }) => contentPolicy))
const rateCodes = new Set(words.flatMap(({ rateLimit = [] }) => rateLimit))

function statusOf({ code, status }: Fields, texts: readonly string[]): number | null {
  for (const said of [code, status]) {
    const number = typeof said === 'string' && statusText.test(said) ? Number(said) : said
    if (typeof number === 'number' && number >= 400 && number <= 599) return number
  }
  return texts.map(statusOfWord).find((found) => found !== null) ?? null
}

const statusText = /^[45]\d\d$/

/** A word for the kind of a failure alone stands for the status of its kind. */
function statusOfWord(word: string): number | null {
  const told = statuses.get(word)
  if (told !== undefined) return told
  if (rateCodes.has(word)) return 429
  return windowCodes.has(word) || policyCodes.has(word) ? 400 : null
}

const windowWords =
  /context (?:length|window)|maximum (?:context|number of tokens|input tokens)|prompt is too long|input is too long|too many (?:input |total )?tokens|input token count|exceeds? the (?:model's )?(?:maximum|max|limit).{0,40}tokens?|reduce the length of/i
const policyWords =
  /content (?:management )?policy|content filter|content_filter|safety system|usage polic(?:y|ies)|flagged as potentially/i

/** Too many tokens in a while, in Bedrock's words: the same request is taken later. */
const rateWords = /please wait|per (?:day|minute)/i

function kindOf(texts: readonly string[], message: string): ProviderError['kind'] {
  if (texts.some((text) => rateCodes.has(text))) return 'rate_limit'
  if (texts.some((text) => windowCodes.has(text)) || (windowWords.test(message) && !rateWords.test(message))) return 'context_window'
  return texts.some((text) => policyCodes.has(text)) || policyWords.test(message) ? 'content_policy' : null
}
