import type { Fields } from '../../../lib/json/fields.ts'
import { unread } from '../leftovers.ts'
import { emptyRequest, type NeutralRequest } from '../neutral/request.ts'
import { readSampling, readStop, readStreaming, withObfuscation } from '../openai-chat/request-decode.ts'
import { flagIn, numberIn, textIn, unreadable } from '../reading.ts'

/** The fields that are read. */
export const known: ReadonlySet<string> = new Set([
  'model',
  'prompt',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'n',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'user',
  'stream',
  'stream_options',
  'echo',
])

/** The length that OpenAI's API gives a completion whose request names none. */
const usualTokens = 16

/** Reads a completion: its prompt is the user's message. */
export function decodeRequest(body: Fields): NeutralRequest {
  const prompt = promptIn(body)
  const maxTokens = numberIn(body, 'max_tokens')
  return {
    ...emptyRequest('completions'),
    model: textIn(body, 'model') ?? '',
    turns: [{ role: 'user', parts: [{ kind: 'text', text: prompt, at: 'prompt', cache: null, bag: null }], at: 'prompt' }],
    maxTokens: maxTokens ?? usualTokens,
    stop: readStop(body['stop']),
    candidates: numberIn(body, 'n'),
    ...readSampling(body),
    user: textIn(body, 'user'),
    ...readStreaming(body),
    bag: { completions: unread(withoutUsual(body), known) },
    unplaced: withObfuscation([], body),
    chosen: maxTokens === null ? [`max_tokens=${usualTokens}`] : [],
    echo: flagIn(body, 'echo') === true ? { prompt } : {},
  }
}

function promptIn({ prompt }: Fields): string {
  const [only, ...more]: readonly unknown[] = Array.isArray(prompt) ? prompt : [prompt]
  if (typeof only === 'string' && only !== '' && more.length === 0) return only
  throw unreadable('prompt', 'one or several texts that are not empty, for this provider: it has chats, which take no tokens')
}

/** Returns a body without fields that equal the default. */
function withoutUsual(body: Fields): Fields {
  const { suffix, best_of: bestOf, ...rest } = body
  const candidates = numberIn(body, 'n') ?? 1
  return {
    ...rest,
    ...(suffix !== '' && { suffix }),
    ...((numberIn(body, 'best_of') ?? candidates) !== candidates && { best_of: bestOf }),
  }
}
