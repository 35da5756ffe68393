import type { Behaviour } from '../emulator/behaviour.ts'
import type { Received } from '../emulator/emulator.ts'
import { refusalOfConverse } from './strict-bedrock.ts'
import { refusalOfGoogle } from './strict-google.ts'
import { refusalOfResponses } from './strict-responses.ts'
import { json, refusalOf } from './strict.ts'

type Fields = Readonly<Record<string, unknown>>

/** A counter of tokens: its fields beside the conversation, and the form of its count. */
interface Counter {
  readonly path: RegExp
  /** Why it refuses a request; null: it takes it. */
  refusal(received: Received): string | null
  readonly answer: (tokens: number) => object
}

/** A request for a conversation at an address that takes it. */
const asConversation = (received: Received, url: string, body: unknown): Received => ({ ...received, url, json: Object(body) as Fields })

/** Refuses fields that steer an answer, since there is none. */
const without = (body: Fields, names: string): string | null =>
  names.split(' ').find((name) => name in body && body[name] !== undefined) ?? null

const claude = (body: Fields): string | null => {
  const extra = without(body, 'max_tokens stream temperature metadata stop_sequences')
  return extra === null ? refusalOf('anthropic', { ...body, max_tokens: 1 }) : `${extra}: Extra inputs are not permitted`
}

const counters: readonly Counter[] = [
  {
    path: /\/messages\/count_tokens$/,
    refusal: ({ json: body, headers }) => ('anthropic-version' in headers ? claude(body) : 'anthropic-version: header is required'),
    answer: (tokens) => ({ input_tokens: tokens }),
  },
  {
    path: /\/publishers\/anthropic\/models\/count-tokens:rawPredict$/,
    refusal({ json: { anthropic_version: version, ...body } }) {
      return version === 'vertex-2023-10-16' ? claude(body) : 'anthropic_version: Field required'
    },
    answer: (tokens) => ({ input_tokens: tokens }),
  },
  {
    path: /\/v1beta\/models\/[^/:]+:countTokens/,
    refusal(received) {
      const { generateContentRequest: request, contents, ...rest } = received.json
      if (Object.keys(rest).length > 0) return `Unknown name "${Object.keys(rest)[0]}"`
      if (request === undefined) return refusalOfGoogle(asConversation(received, '/models/a:generateContent', { contents }))
      const { model, ...body } = Object(request) as Fields
      if (!String(model).startsWith('models/')) return 'model must be models/…'
      return refusalOfGoogle(asConversation(received, '/models/a:generateContent', body))
    },
    answer: (tokens) => ({ totalTokens: tokens }),
  },
  {
    path: /\/publishers\/google\/models\/[^/:]+:countTokens$/,
    refusal(received) {
      const extra = without(received.json, 'model safetySettings toolConfig')
      return extra === null
        ? refusalOfGoogle(asConversation(received, '/models/a:generateContent', received.json))
        : `Unknown name "${extra}": Cannot find field.`
    },
    answer: (tokens) => ({ totalTokens: tokens, totalBillableCharacters: 5 }),
  },
  {
    path: /\/model\/anthropic\.[^/]+\/count-tokens$/,
    refusal(received) {
      const { converse } = Object(received.json['input']) as Fields
      const extra = without(Object(converse) as Fields, 'inferenceConfig additionalModelRequestFields')
      return extra === null ? refusalOfConverse(asConversation(received, '/model/a/converse', converse)) : `${extra} is not expected`
    },
    answer: (tokens) => ({ inputTokens: tokens }),
  },
  {
    path: /\/responses\/input_tokens$/,
    refusal(received) {
      const extra = without(received.json, 'store stream include max_output_tokens temperature service_tier')
      return extra === null
        ? refusalOfResponses(asConversation(received, '/v1/responses', received.json))
        : `Unknown parameter: '${extra}'.`
    },
    answer: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
  },
]

/** Counts as strictly as the vendors do: each finds so many tokens. */
export function countsStrictly(received: Received, tokens: number): Behaviour {
  const path = decodeURIComponent(received.url.split('?', 1)[0] ?? '')
  const counter = counters.find((one) => one.path.test(path))
  const refusal = counter === undefined ? `no ${path}` : counter.refusal(received)
  if (counter === undefined || refusal !== null)
    return json({ message: refusal, error: { message: refusal, type: 'invalid_request_error' } }, 400)
  return json(counter.answer(tokens))
}
