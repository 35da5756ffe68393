import test from 'ava'
import { takesTools } from './expected.ts'
import { fieldClients, formatOf, refusalOr, translated, withValue } from './fields.ts'
import { isServed, providers, sideFor } from './sides/index.ts'
import type { ClientId, Lines, ProviderId } from './talk.ts'

/** Points of a request that every pair must hold: each is translated for each provider, whose emulator then judges it. */
type Body = Readonly<Record<string, unknown>>

const clients = Object.keys(fieldClients) as ClientId[]
const ids = Object.keys(providers) as ProviderId[]
const entriesOf = <T>(byClient: Readonly<Partial<Record<ClientId, T>>>) => Object.entries(byClient) as [ClientId, T][]

/** Returns each pair that is translated. */
const pairsOf = (client: ClientId) =>
  ids.filter((id) => isServed(client, id) && translated({ client, id }, formatOf(client).least) !== null)

interface Judged {
  /** Why the provider refuses the request; null: it takes it. */
  readonly refusal: string | null
  readonly heard: Lines
  readonly dropped: readonly string[]
}

/** Returns a request as a provider gets it. `refused`: the caller gets a 400 before any call. */
function judged(client: ClientId, id: ProviderId, body: Body): Judged | 'refused' {
  const sent = refusalOr(() => translated({ client, id }, body))
  if (sent === 'refused') return sent
  if (sent === null) throw new Error('nothing was translated')
  const side = sideFor(client, id)
  const refusal = side.refusal(sent.received)
  return { refusal, heard: refusal === null ? side.heard(sent.received) : [], dropped: sent.dropped }
}

for (const client of clients)
  test(`${client}: null in place of any optional field is no field`, (t) => {
    const { least, samples } = formatOf(client)
    const nothing = Object.fromEntries(Object.keys(samples).flatMap((name) => (name.includes('.') || name in least ? [] : [[name, null]])))
    for (const id of pairsOf(client)) {
      const [plain, nulls] = [translated({ client, id }, least), translated({ client, id }, { ...nothing, ...least })]
      t.deepEqual([nulls?.text, nulls?.dropped], [plain?.text, plain?.dropped], id)
    }
  })

for (const client of clients)
  test(`${client}: null in place of a field within another is no field`, (t) => {
    const { least, samples } = formatOf(client)
    for (const [name, { beside }] of Object.entries(samples).filter(([one]) => one.includes('.')))
      for (const id of pairsOf(client)) {
        const before = { ...least, ...beside }
        const [plain, nulls] = [before, withValue(before, name.split('.'), null)].map((body) =>
          refusalOr(() => translated({ client, id }, body)),
        )
        if (plain === 'refused' || nulls === 'refused') t.is(nulls, plain, `${name} at ${id}`)
        else t.deepEqual([nulls?.text, nulls?.dropped], [plain?.text, plain?.dropped], `${name} at ${id}`)
      }
  })

for (const client of clients)
  test(`${client}: a field that nobody knows is left out and named`, (t) => {
    const { least } = formatOf(client)
    for (const id of pairsOf(client)) {
      const [plain, more] = [translated({ client, id }, least), translated({ client, id }, { ...least, tomorrow: 1 })]
      t.is(more?.text, plain?.text, id)
      t.deepEqual(more?.dropped.toSorted(), [...(plain?.dropped ?? []), 'tomorrow'].toSorted(), id)
    }
  })

const schema = { type: 'object', properties: { city: { type: 'string' } } }

/** The tools of a client, and its words for each choice among them. */
const choices: Readonly<Partial<Record<ClientId, { readonly tools: unknown; readonly field: string; readonly words: Body }>>> = {
  'openai-chat': {
    tools: [{ type: 'function', function: { name: 'weather', parameters: schema } }],
    field: 'tool_choice',
    words: { none: 'none', auto: 'auto', required: 'required', named: { type: 'function', function: { name: 'weather' } } },
  },
  'openai-responses': {
    tools: [{ type: 'function', name: 'weather', parameters: schema, strict: false }],
    field: 'tool_choice',
    words: { none: 'none', auto: 'auto', required: 'required', named: { type: 'function', name: 'weather' } },
  },
  anthropic: {
    tools: [{ name: 'weather', input_schema: schema }],
    field: 'tool_choice',
    words: { none: { type: 'none' }, auto: { type: 'auto' }, required: { type: 'any' }, named: { type: 'tool', name: 'weather' } },
  },
  google: {
    tools: [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: schema }] }],
    field: 'toolConfig',
    words: {
      none: { functionCallingConfig: { mode: 'NONE' } },
      auto: { functionCallingConfig: { mode: 'AUTO' } },
      required: { functionCallingConfig: { mode: 'ANY' } },
      named: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['weather'] } },
    },
  },
}

for (const [client, { tools, field, words }] of entriesOf(choices))
  test(`${client}: a tool may be called, must be, must not be, or is named: said there, or named as left out`, (t) => {
    const least = { ...formatOf(client).least, tools }
    for (const id of pairsOf(client)) {
      const texts = new Map<string, string>()
      for (const [mode, word] of Object.entries(words)) {
        const body = { ...least, [field]: word }
        const found = judged(client, id, body)
        t.is(found === 'refused', !takesTools(id), `${id}, ${mode}`)
        if (found === 'refused') continue
        t.is(found.refusal, null, `${id}, ${mode}`)
        const isNamed = found.dropped.some((name) => /tool_?choice|functionCallingConfig/i.test(name))
        if (!isNamed) texts.set(mode, translated({ client, id }, body)?.text ?? '')
      }
      // A choice that is not named as left out differs from one that is left to the model. Without calls the tools are not needed.
      for (const mode of ['none', 'required', 'named']) if (texts.has(mode)) t.not(texts.get(mode), texts.get('auto'), `${id}, ${mode}`)
    }
  })

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const emptySchema = { type: 'object', properties: {} }

/** Two calls, the second without arguments, and their results in another order, the first of which has failed. */
const turns: Readonly<Partial<Record<ClientId, Body>>> = {
  'openai-chat': {
    tools: ['weather', 'time'].map((name) => ({ type: 'function', function: { name, parameters: emptySchema } })),
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'developer', content: 'Be kind.' },
      { role: 'user', content: 'Weather and time?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_a', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } },
          { id: 'call_b', type: 'function', function: { name: 'time', arguments: '' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_b', content: 'no clock' },
      { role: 'tool', tool_call_id: 'call_a', content: 'sunny' },
    ],
  },
  'openai-responses': {
    instructions: 'Be brief.',
    tools: ['weather', 'time'].map((name) => ({ type: 'function', name, parameters: emptySchema, strict: false })),
    input: [
      { role: 'developer', content: 'Be kind.' },
      { role: 'user', content: 'Weather and time?' },
      { type: 'function_call', call_id: 'call_a', name: 'weather', arguments: '{"city":"Paris"}' },
      { type: 'function_call', call_id: 'call_b', name: 'time', arguments: '' },
      { type: 'function_call_output', call_id: 'call_b', output: 'no clock' },
      { type: 'function_call_output', call_id: 'call_a', output: 'sunny' },
    ],
  },
  anthropic: {
    max_tokens: 100,
    system: 'Be brief.',
    tools: ['weather', 'time'].map((name) => ({ name, input_schema: emptySchema })),
    messages: [
      { role: 'user', content: 'Weather and time?' },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'call_a', name: 'weather', input: { city: 'Paris' } },
          { type: 'tool_use', id: 'call_b', name: 'time', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_b', content: 'no clock', is_error: true },
          { type: 'tool_result', tool_use_id: 'call_a', content: 'sunny' },
        ],
      },
    ],
  },
  google: {
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    tools: [{ functionDeclarations: ['weather', 'time'].map((name) => ({ name, parametersJsonSchema: emptySchema })) }],
    contents: [
      { role: 'user', parts: [{ text: 'Weather and time?' }] },
      {
        role: 'model',
        parts: [
          { functionCall: { id: 'call_a', name: 'weather', args: { city: 'Paris' } } },
          { functionCall: { id: 'call_b', name: 'time' } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'call_b', name: 'time', response: { error: 'no clock' } } },
          { functionResponse: { id: 'call_a', name: 'weather', response: { output: 'sunny' } } },
        ],
      },
    ],
  },
}

for (const [client, body] of entriesOf(turns))
  test(`${client}: results in another order find their calls, one that failed and a call without arguments too`, (t) => {
    for (const id of pairsOf(client)) {
      const found = judged(client, id, body)
      t.is(found === 'refused', !takesTools(id), id)
      if (found === 'refused') continue
      t.is(found.refusal, null, id)
      for (const line of [/^system .*Be brief\./, /^assistant call weather \{"city":"Paris"\}$/, /^assistant call time \{\}$/])
        t.true(
          found.heard.some((one) => line.test(one)),
          `${id}: ${String(line)} in ${found.heard.join(' | ')}`,
        )
      for (const line of [/^result weather .*sunny/, /^result time /])
        t.is(found.heard.filter((one) => line.test(one)).length, 1, `${id}: ${String(line)} in ${found.heard.join(' | ')}`)
      t.true(translated({ client, id }, body)?.text.includes('no clock'), id)
      if (client.startsWith('openai')) t.true(found.heard.join('\n').includes('Be kind.'), id)
    }
  })

test('an image in the result of a tool reaches every provider that reads images, or is refused by its place', (t) => {
  const source = { type: 'base64', media_type: 'image/png', data: pixel }
  const body = {
    max_tokens: 100,
    tools: [{ name: 'look', input_schema: emptySchema }],
    messages: [
      { role: 'user', content: 'What is there?' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_a', name: 'look', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'call_a',
            content: [
              { type: 'text', text: 'this' },
              { type: 'image', source },
            ],
          },
        ],
      },
    ],
  }
  for (const id of pairsOf('anthropic')) {
    const sent = refusalOr(() => translated({ client: 'anthropic', id }, body))
    t.is(sent === 'refused', !takesTools(id), id)
    if (sent === 'refused') continue
    t.is(sent && sideFor('anthropic', id).refusal(sent.received), null, id)
    // Where results of tools are texts alone, the place of the image is named.
    t.true(sent?.text.includes(pixel) === true || sent?.dropped.some((name) => name.startsWith('messages[2]')), id)
  }
})
