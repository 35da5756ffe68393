import { clientCodecOf, providerCodecOf } from '../../../src/gateway/dialects/codecs.ts'
import type { Frame } from '../../../src/gateway/dialects/codec.ts'
import type { NeutralEvent } from '../../../src/gateway/dialects/neutral/events.ts'
import type { DialectId } from '../../../src/gateway/dialects/dialect.ts'
import { foldEvents } from '../../../src/gateway/dialects/neutral/answer.ts'
import { fitAnswer } from '../../../src/gateway/dialects/neutral/fit-answer.ts'
import { plainTraits } from '../../../src/gateway/dialects/traits.ts'
import { contextFor } from '../dialects/laws.ts'
import type { Fields } from '../../../src/lib/json/fields.ts'
import { type Body, translator } from '../dialects/translated.ts'
import { type Door, refusing, repeated } from './door.ts'

/** Returns as many items as take about so many bytes as JSON. */
function items<Item>(bytes: number, make: (at: number) => Item): Item[] {
  const size = JSON.stringify(make(1000)).length + 1
  return Array.from({ length: Math.max(1, Math.round(bytes / size)) }, (_, at) => make(at))
}

const providers = {
  'openai-chat': 'gpt-4o',
  'openai-responses': 'gpt-5',
  anthropic: 'claude-sonnet-4-5',
  google: 'gemini-2.5-flash',
  bedrock: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
  cohere: 'command-a-03-2025',
  ollama: 'llama3.2',
  oracle: 'meta.llama-3.3-70b-instruct',
} as const satisfies Partial<Record<DialectId, string>>

type ProviderDialect = keyof typeof providers

const hello = { role: 'user', content: 'hello' }
const names = (bytes: number): readonly string[] => items(bytes, (at) => `field_${at}`)
const strings = (fields: readonly string[]) => Object.fromEntries(fields.map((name) => [name, { type: 'string' }]))
const withTool = (parameters: object) => ({ messages: [hello], tools: [{ type: 'function', function: { name: 'f', parameters } }] })

/** Requests of chat clients with many of one thing. */
const chatRequests: Readonly<Record<string, (bytes: number) => Body>> = {
  'many calls with their results'(bytes) {
    const calls = items(bytes / 2, (at) => ({ id: `call_${at}`, type: 'function', function: { name: 'f', arguments: '{}' } }))
    const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'r' })).toReversed()
    return {
      ...withTool({ type: 'object', properties: {} }),
      messages: [hello, { role: 'assistant', tool_calls: calls }, ...results, hello],
    }
  },
  'many tools': (bytes) => ({
    messages: [hello],
    tools: items(bytes, (at) => ({ type: 'function', function: { name: `tool.${at}`, parameters: { type: 'object', properties: {} } } })),
  }),
  'a choice of objects with many required fields'(bytes) {
    const fields = names(bytes / 5)
    const one = { type: 'object', properties: strings(fields), required: fields }
    return withTool({ anyOf: [one, { type: 'object', properties: {}, required: fields.toReversed() }] })
  },
  'a schema with many required fields'(bytes) {
    const fields = names(bytes / 3)
    const schema = { type: 'object', properties: strings(fields), required: fields.toReversed(), additionalProperties: false }
    return { messages: [hello], response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } }
  },
  'many results of a tool with a long name': (bytes) => {
    const name = repeated('n', bytes / 4)
    const calls = items(bytes / 4, (at) => ({
      id: `call_${at}`,
      type: 'function',
      function: { name: at === 0 ? name : 'f', arguments: '{}' },
    }))
    const results = items(bytes / 2, () => ({ role: 'tool', tool_call_id: 'call_0', content: 'r' }))
    return { messages: [hello, { role: 'assistant', tool_calls: calls }, ...results, hello] }
  },
  'a choice of many tools': (bytes) => ({
    messages: [hello],
    tools: items(bytes / 2, (at) => ({ type: 'function', function: { name: `t${at}`, parameters: { type: 'object', properties: {} } } })),
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: items(bytes / 2, (at) => ({ type: 'function', function: { name: `u${at}` } })) },
    },
  }),
  'many documents': (bytes) => ({
    messages: [
      { role: 'user', content: items(bytes, () => ({ type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } })) },
    ],
  }),
  'many short turns': (bytes) => ({ messages: items(bytes, (at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: 'a' })) }),
}

const choices = (bytes: number) => items(bytes, () => ({ type: 'string' }))
const inProperty = (property: object, rest: object = {}) => withTool({ type: 'object', properties: { a: property }, ...rest })
const parts = (bytes: number) => items(bytes, () => ({}))
const references = (bytes: number) => items(bytes, () => ({ $ref: '#/$defs/a' }))

/** Schemas of which some parts may have to be written many times. */
const schemaRequests: typeof chatRequests = {
  'a long description beside choices': (bytes) => inProperty({ description: repeated('d', bytes / 2), anyOf: choices(bytes / 2) }),
  'many values beside choices': (bytes) => inProperty({ enum: names(bytes / 2), anyOf: choices(bytes / 2) }),
  'many required fields beside choices': (bytes) => inProperty({ type: 'object', required: names(bytes / 2), anyOf: choices(bytes / 2) }),
  'a default beside choices in choices'(bytes) {
    const within = { default: names(bytes / 3), anyOf: [...choices(bytes / 3), { anyOf: choices(bytes / 3) }] }
    return inProperty(within)
  },
  'references to a long description': (bytes) =>
    inProperty({ anyOf: references(bytes / 2) }, { $defs: { a: { type: 'string', description: repeated('d', bytes / 2) } } }),
  'references to a name without end': (bytes) =>
    inProperty({ anyOf: references(bytes / 2) }, { $defs: { a: { type: 'object', properties: { [repeated('d', bytes / 2)]: {} } } } }),
  'references to many unknown words': (bytes) => inProperty({ anyOf: references(bytes / 2) }, { $defs: { a: strings(names(bytes / 4)) } }),
  'a choice of references to one object': (bytes) =>
    withTool({ anyOf: references(bytes / 2), $defs: { a: { properties: strings(names(bytes / 4)), required: names(bytes / 4) } } }),
  'parts of references to one object': (bytes) =>
    withTool({ allOf: references(bytes / 2), $defs: { a: { properties: strings(names(bytes / 4)), required: names(bytes / 4) } } }),
  'required fields of one of many parts': (bytes) =>
    inProperty({ type: 'object', allOf: [{ required: names(bytes / 2) }, ...parts(bytes / 2)] }),
  'fields of one of many parts': (bytes) =>
    inProperty({ type: 'object', allOf: [{ properties: strings(names(bytes / 2)) }, ...parts(bytes / 2)] }),
  'fields of many parts': (bytes) =>
    inProperty({ type: 'object', allOf: items(bytes, (at) => ({ properties: { [`p${at}`]: {} }, required: [`p${at}`] })) }),
  'references to references': (bytes) =>
    inProperty(
      { $ref: '#/$defs/a0' },
      { $defs: Object.fromEntries(names(bytes / 3).map((_, at) => [`a${at}`, { $ref: `#/$defs/a${at + 1}` }])) },
    ),
  'unsupported bounds below a long name': (bytes) =>
    inProperty({
      type: 'object',
      properties: {
        [repeated('n', bytes / 2)]: {
          type: 'object',
          properties: Object.fromEntries(names(bytes / 2).map((name) => [name, { type: 'string', minLength: 1 }])),
        },
      },
    }),
}

/** Requests of other clients, each as many calls with their results. */
const otherRequests: Readonly<Partial<Record<DialectId, (bytes: number) => Body>>> = {
  anthropic(bytes) {
    const calls = items(bytes / 2, (at) => ({ type: 'tool_use', id: `call_${at}`, name: 'f', input: {} }))
    const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'r' })).toReversed()
    return { max_tokens: 9, messages: [hello, { role: 'assistant', content: calls }, { role: 'user', content: results }] }
  },
  google(bytes) {
    const calls = items(bytes / 2, () => ({ functionCall: { name: 'f', args: {} } }))
    const results = calls.map(() => ({ functionResponse: { name: 'f', response: {} } }))
    const contents = [
      { role: 'user', parts: [{ text: 'hello' }] },
      { role: 'model', parts: calls },
      { role: 'user', parts: results },
    ]
    return { contents }
  },
  'openai-responses'(bytes) {
    const calls = items(bytes / 2, (at) => ({ type: 'function_call', call_id: `call_${at}`, name: 'f', arguments: '{}' }))
    const results = calls.map(({ call_id: id }) => ({ type: 'function_call_output', call_id: id, output: 'r' })).toReversed()
    return { input: [hello, ...calls, ...results] }
  },
}

const requestDoor = (from: DialectId, to: ProviderDialect, shapes: typeof chatRequests, model: string = providers[to]): Door => ({
  name: `a request of ${from} at ${to}, ${model}`,
  writes: true,
  shapes: Object.fromEntries(
    Object.entries(shapes).map(([name, make]) => [
      name,
      (bytes: number) => {
        const body = make(bytes)
        const ask = translator(from, to, { model })
        return refusing(() => ask(body).body)
      },
    ]),
  ),
})

const chatAnswer = (message: object) => ({
  id: 'a',
  model: 'm',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', ...message } }],
})

const candidate = (text: string, chunk: object, supports: readonly object[]) => ({
  index: 0,
  finishReason: 'STOP',
  content: { role: 'model', parts: [{ text }] },
  groundingMetadata: { groundingChunks: [{ web: { uri: 'https://a.example', ...chunk } }], groundingSupports: supports },
})
const place = (at: number) => ({ segment: { startIndex: at, endIndex: 2 * at + 1 }, groundingChunkIndices: [0] })

/** Candidates of Google's whose text rests on sources. */
const grounded = {
  'a long title at many places': (bytes: number) => candidate('a', { title: repeated('t', bytes / 2) }, items(bytes / 2, place)),
  'many places of a long text': (bytes: number) => candidate(repeated('é', bytes / 4), { title: 't' }, items(bytes / 2, place)),
  'a long title that one place names often': (bytes: number) =>
    candidate('a', { title: repeated('t', bytes / 2) }, [{ segment: { endIndex: 1 }, groundingChunkIndices: items(bytes / 2, () => 0) }]),
}

/** Answers of providers with many of one thing. */
const answers: Readonly<Partial<Record<ProviderDialect, Readonly<Record<string, (bytes: number) => object>>>>> = {
  'openai-chat': {
    'many calls': (bytes) =>
      chatAnswer({
        tool_calls: items(bytes, (at) => ({ index: at, id: `c${at}`, type: 'function', function: { name: 'f', arguments: '{}' } })),
      }),
    'many calls without an index': (bytes) =>
      chatAnswer({ tool_calls: items(bytes, (at) => ({ id: `c${at}`, type: 'function', function: { name: 'f', arguments: '{}' } })) }),
    'many pieces of reasoning': (bytes) =>
      chatAnswer({ content: 'a', reasoning_details: items(bytes, (at) => ({ type: 'reasoning.encrypted', index: at, data: 'x' })) }),
    'many sources': (bytes) =>
      chatAnswer({
        content: 'a',
        annotations: items(bytes, (at) => ({ type: 'url_citation', url_citation: { url: `https://a.example/${at}`, title: 't' } })),
      }),
  },
  anthropic: {
    'many calls': (bytes) => ({
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: items(bytes, (at) => ({ type: 'tool_use', id: `c${at}`, name: 'f', input: {} })),
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  },
  google: {
    'many calls': (bytes) => ({
      candidates: [
        { content: { role: 'model', parts: items(bytes, () => ({ functionCall: { name: 'f', args: {} } })) }, finishReason: 'STOP' },
      ],
    }),
    ...Object.fromEntries(Object.entries(grounded).map(([name, make]) => [name, (bytes: number) => ({ candidates: [make(bytes)] })])),
  },
  oracle: {
    'a long quote of many documents': (bytes) => ({
      modelId: 'cohere.command-r-plus',
      chatResponse: {
        apiFormat: 'COHERE',
        text: 'a',
        citations: [{ start: 0, end: 1, text: repeated('q', bytes / 2), documentIds: items(bytes / 2, (at) => `${at}`) }],
        finishReason: 'COMPLETE',
      },
    }),
  },
  'openai-responses': {
    'many calls': (bytes) => ({
      id: 'r',
      object: 'response',
      status: 'completed',
      model: 'm',
      output: items(bytes, (at) => ({ type: 'function_call', id: `f${at}`, call_id: `c${at}`, name: 'f', arguments: '{}' })),
    }),
  },
}

const clients = ['openai-chat', 'openai-responses', 'anthropic', 'google'] as const
const traits = { ...plainTraits, reasoningField: 'reasoning', reasoningDetails: true } as const

const answerDoors: readonly Door[] = Object.entries(answers).flatMap(([from, shapes]) =>
  clients
    .filter((to) => to !== from)
    .map((to) => ({
      name: `an answer of ${from} for ${to}`,
      writes: true,
      shapes: Object.fromEntries(
        Object.entries(shapes).map(([name, make]) => [
          name,
          (bytes: number) => {
            const json = make(bytes)
            const context = contextFor(to, { traits, ...(from === 'oracle' && { model: 'cohere.command-r-plus' }) })
            return refusing(() =>
              clientCodecOf(to)?.answer.encode(
                foldEvents((providerCodecOf(from as ProviderDialect)?.answer.decode(json, context) ?? []).flatMap(fitAnswer())),
                context,
              ),
            )
          },
        ]),
      ),
    })),
)

type Frames = (bytes: number) => readonly Fields[]

const message = [{ type: 'message_start', message: { id: 'm', model: 'm', content: [], usage: { input_tokens: 1, output_tokens: 1 } } }]
const messageEnd = [{ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }, { type: 'message_stop' }]
const source = { type: 'web_search_result_location', url: 'https://a', title: 't', cited_text: 'q', encrypted_index: 'e' }
const startOf = (index: number, block: object) => ({ type: 'content_block_start', index, content_block: block })
const piece = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta })
const stop = (index: number) => ({ type: 'content_block_stop', index })
const within = (bytes: number, make: (at: number) => readonly Fields[]) => items(bytes, make).flat()

/** Streams of providers with many of one thing. */
const streams: Readonly<Partial<Record<ProviderDialect, Readonly<Record<string, Frames>>>>> = {
  anthropic: {
    'a source behind each piece of text': (bytes) => [
      ...message,
      startOf(0, { type: 'text', text: '' }),
      ...within(bytes, () => [piece(0, { type: 'text_delta', text: 'ab' }), piece(0, { type: 'citations_delta', citation: source })]),
      stop(0),
      ...messageEnd,
    ],
    'many sources of a long text': (bytes) => [
      ...message,
      startOf(0, { type: 'text', text: repeated('é', bytes / 4) }),
      ...items(bytes / 2, () => piece(0, { type: 'citations_delta', citation: source })),
      stop(0),
      ...messageEnd,
    ],
    'many signed thoughts': (bytes) => [
      ...message,
      ...within(bytes, (at) => [
        startOf(at, { type: 'thinking', thinking: 'a', signature: '' }),
        piece(at, { type: 'signature_delta', signature: 's' }),
        stop(at),
      ]),
      ...messageEnd,
    ],
    'long thoughts before calls': (bytes) => [
      ...message,
      ...Array.from({ length: 30 }, (_, at) => [
        startOf(2 * at, { type: 'thinking', thinking: repeated('t', bytes / 30), signature: 's' }),
        stop(2 * at),
        startOf(2 * at + 1, { type: 'tool_use', id: `c${at}`, name: 'f', input: {} }),
        stop(2 * at + 1),
      ]).flat(),
      ...messageEnd,
    ],
    'blocks that are all open': (bytes) => [
      ...message,
      ...items(bytes / 2, (at) => startOf(at, { type: 'text', text: 'a' })),
      ...items(bytes / 2, (at) => stop(at)),
      ...messageEnd,
    ],
  },
  google: {
    ...Object.fromEntries(
      Object.entries(grounded).map(([name, make]): [string, Frames] => [name, (bytes) => [{ candidates: [make(bytes)] }]]),
    ),
    'a place in each frame': (bytes) =>
      items(bytes, (at) => ({ candidates: [candidate('é', { title: 't' }, [{ segment: { endIndex: at }, groundingChunkIndices: [0] }])] })),
    'many pictures': (bytes) => [
      {
        candidates: [
          {
            index: 0,
            finishReason: 'STOP',
            content: { role: 'model', parts: items(bytes, () => ({ inlineData: { mimeType: 'image/png', data: 'AAAA' } })) },
          },
        ],
      },
    ],
  },
  cohere: {
    'calls that do not end': (bytes) => [
      { type: 'message-start', id: 'm' },
      ...items(bytes, (index) => ({
        type: 'tool-call-start',
        index,
        delta: { message: { tool_calls: { id: `c${index}`, type: 'function', function: { name: 'f', arguments: '' } } } },
      })),
      { type: 'message-end', delta: { finish_reason: 'TOOL_CALL' } },
    ],
  },
}

/** Returns how many characters a stream has for a client. */
function translatedStream(from: ProviderDialect, to: DialectId, frames: readonly Frame[]): number {
  const context = contextFor(to, { traits })
  const [decoder, encoder, fit] = [providerCodecOf(from)?.stream.decoder(context), clientCodecOf(to)?.stream.encoder(context), fitAnswer()]
  let written = 0
  const take = (events: readonly NeutralEvent[]): void => {
    for (const event of events.flatMap(fit)) for (const { data } of encoder?.event(event) ?? []) written += data?.length ?? 0
  }
  for (const frame of frames) take(decoder?.frame(frame) ?? [])
  take(decoder?.end() ?? [])
  return written
}

/** Work that grows with the square of the events is lost among the rest in a stream of few. */
const leastStream = 512 * 1024

function streamDoor(from: ProviderDialect, to: DialectId, shapes: Readonly<Record<string, Frames>>, bytesAtLeast = leastStream): Door {
  const made = Object.entries(shapes).map(([name, make]) => [
    name,
    (bytes: number) => {
      const frames = make(bytes).map((json) => ({ name: null, data: JSON.stringify(json) }))
      return () => translatedStream(from, to, frames)
    },
  ])
  return { name: `a stream of ${from} for ${to}`, writes: true, least: bytesAtLeast, shapes: Object.fromEntries(made) }
}

const streamDoors: readonly Door[] = (Object.keys(streams) as ProviderDialect[]).flatMap((from) =>
  clients.filter((to) => to !== from).map((to) => streamDoor(from, to, streams[from] ?? {})),
)

const longStreams = { 'very many signed thoughts': streams.anthropic?.['many signed thoughts'] ?? (() => []) }

/** Requests and answers from one end of a translation to the other. */
export const translationDoors: readonly Door[] = [
  ...(Object.keys(providers) as ProviderDialect[]).map((to) => requestDoor('openai-chat', to, chatRequests)),
  ...(['openai-chat', 'anthropic', 'google', 'bedrock'] as const).map((to) => requestDoor('openai-chat', to, schemaRequests)),
  requestDoor('openai-chat', 'google', schemaRequests, 'gemini-2.0-flash'),
  requestDoor('openai-chat', 'bedrock', schemaRequests, 'amazon.nova-pro-v1:0'),
  ...Object.entries(otherRequests).flatMap(([from, calls]) =>
    (['openai-chat', 'bedrock'] as const).map((to) => requestDoor(from as DialectId, to, { 'many calls with their results': calls })),
  ),
  ...answerDoors,
  ...streamDoors,
  streamDoor('anthropic', 'openai-chat', longStreams, 4 * leastStream),
]
