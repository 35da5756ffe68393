import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import type { Codec, Frame } from '../../../../src/gateway/dialects/codec.ts'
import { clientCodecOf, codecOf } from '../../../../src/gateway/dialects/codecs.ts'
import type { DialectId } from '../../../../src/gateway/dialects/dialect.ts'
import { foldEvents } from '../../../../src/gateway/dialects/neutral/answer.ts'
import type { NeutralEvent } from '../../../../src/gateway/dialects/neutral/events.ts'
import { finishOf, type FinishReason } from '../../../../src/gateway/dialects/neutral/finish.ts'
import { noUsage } from '../../../../src/gateway/dialects/neutral/token-usage.ts'
import { assertOrder, contextFor, readStream, saidBy, writeStream } from '../../../support/dialects/laws.ts'
import { type Body, translator } from '../../../support/dialects/translated.ts'

/** Laws that hold for every format: a text that is written and read again is the same, and a conversation means the same in every format. */
const codecs = (['openai-chat', 'openai-responses', 'anthropic', 'google'] as const).map((id): Codec => {
  const codec = codecOf(id)
  if (codec === null) throw new Error(id)
  return codec
})

/** Answers as any provider may give them: signatures are Anthropic's, which all formats can carry. */
const answers = fc
  .record({
    reasoning: fc.option(
      fc.record({ text: fc.string({ minLength: 1 }), signature: fc.string({ minLength: 1 }).filter((text) => !text.startsWith('gh1:')) }),
    ),
    text: fc.option(fc.string({ minLength: 1, unit: 'grapheme' })),
    calls: fc.array(
      fc.record({
        id: fc.stringMatching(/^[a-z]{3,9}$/),
        input: fc.dictionary(
          fc.string(),
          fc.json().map((json): unknown => JSON.parse(json)),
        ),
      }),
      { maxLength: 3 },
    ),
    reason: fc.constantFrom<FinishReason>('stop', 'length', 'content-filter'),
    input: fc.nat(1000),
    cacheRead: fc.nat(1000),
    output: fc.nat(1000),
    cuts: fc.array(fc.nat(20), { maxLength: 4 }),
  })
  .map(({ reasoning, text, calls, reason, input, cacheRead, output, cuts }) => {
    const events: NeutralEvent[] = [{ type: 'start', id: 'id_1', model: 'm', created: 1_700_000_000 }]
    const say = (whole: string) => {
      let from = 0
      for (const cut of cuts) {
        if (from < Math.min(cut, whole.length)) events.push({ type: 'delta', choice: 0, text: whole.slice(from, cut) })
        from = Math.max(from, cut)
      }
      if (from < whole.length) events.push({ type: 'delta', choice: 0, text: whole.slice(from) })
    }
    const plain = { signature: null, redacted: false }
    if (reasoning !== null) {
      events.push({ type: 'block-start', choice: 0, block: { kind: 'reasoning' } })
      say(reasoning.text)
      events.push({
        type: 'block-end',
        choice: 0,
        end: { signature: { origin: 'anthropic', value: reasoning.signature }, redacted: false },
      })
    }
    if (text !== null) {
      events.push({ type: 'block-start', choice: 0, block: { kind: 'text' } })
      say(text)
      events.push({ type: 'block-end', choice: 0, end: plain })
    }
    for (const [index, { id, input: given }] of calls.entries()) {
      events.push({ type: 'block-start', choice: 0, block: { kind: 'tool-call', id: `${id}${index}`, name: 'f', custom: false } })
      say(JSON.stringify(given))
      events.push({ type: 'block-end', choice: 0, end: plain })
    }
    const usage = { ...noUsage, input: input + cacheRead, cacheRead, output }
    events.push({ type: 'usage', usage, tier: null })
    events.push({ type: 'finish', choice: 0, finish: finishOf(calls.length > 0 ? 'tool-calls' : reason) }, { type: 'end' })
    return events
  })

/** The wrapping that others put around a signature that is not their own. */
const wrapping = /^(?:rs_\w+:)?(?:gh1:\w+:)?/

/** An answer with the counts that a format always has, 0 where there is none, and with its signatures alone. */
const told = ({ choices, usage }: ReturnType<typeof saidBy>) => ({
  choices: choices.map(({ blocks, finish }) => ({
    finish,
    blocks: blocks.map(({ end, ...block }) => ({ ...block, signature: end?.signature?.value.replace(wrapping, '') })),
  })),
  usage: { input: usage?.input, cacheRead: usage?.cacheRead, output: usage?.output },
})

/** A stream that is cut is whole only when its content was complete. */
function assertNoneWhole(t: ExecutionContext, codec: Codec, frames: readonly Frame[]): void {
  const context = contextFor(codec.id)
  const all = saidBy(foldEvents(readStream(codec, frames, context))).choices
  for (let count = 0; count < frames.length; count += 1) {
    const events = readStream(codec, frames, context, count)
    assertOrder(events)
    if (events.some(({ type }) => type === 'end')) t.deepEqual(saidBy(foldEvents(events)).choices, all, `whole after ${count}`)
  }
}

/** Google's answers have a law of their own in google.test.ts: they hold thoughts only where these are asked for. */
for (const codec of codecs.filter(({ id }) => id !== 'google')) {
  const context = contextFor(codec.id)
  test(`${codec.id}: an answer that is written and read again says the same, whole and as a stream, cut anywhere`, (t) => {
    fc.assert(
      fc.property(answers, (events) => {
        const expected = told(saidBy(foldEvents(events)))
        const frames = writeStream(codec, events, context)
        const again = readStream(codec, frames, context)
        assertOrder(again)
        t.deepEqual(told(saidBy(foldEvents(again))), expected)
        const whole: unknown = JSON.parse(JSON.stringify(codec.answer.encode(foldEvents(events), context)))
        t.deepEqual(told(saidBy(foldEvents(codec.answer.decode(whole, context)))), expected)
        assertNoneWhole(t, codec, frames)
      }),
      { numRuns: 75 },
    )
  })
}

for (const codec of codecs) {
  const context = contextFor(codec.id)
  test(`${codec.id}: no JSON of any shape makes its readers fail`, (t) => {
    fc.assert(
      fc.property(fc.array(fc.json(), { maxLength: 5 }), (texts) => {
        const reader = codec.stream.decoder(context)
        for (const data of texts) reader.frame({ name: null, data })
        reader.end()
        for (const data of texts) codec.answer.decode(JSON.parse(data), context)
        for (const data of texts) codec.error.decode(500, JSON.parse(data))
      }),
    )
    t.pass()
  })
}

test('completions: an answer that is written has all of its text, whole and as a stream, and nothing that was thought', (t) => {
  const codec = clientCodecOf('completions')
  const context = contextFor('completions')
  fc.assert(
    fc.property(answers, (events) => {
      const text = foldEvents(events)
        .choices[0]?.blocks.flatMap(({ block, text: said }) => (block.kind === 'text' ? [said] : []))
        .join('')
      const whole = codec?.answer.encode(foldEvents(events), context) as { readonly choices: readonly { readonly text: string }[] }
      const encoder = codec?.stream.encoder(context)
      const frames = events.flatMap((event) => encoder?.event(event) ?? [])
      const pieces = frames.flatMap(({ data }) =>
        data === null || data === '[DONE]' ? [] : (JSON.parse(data) as typeof whole).choices.map((choice) => choice.text),
      )
      t.deepEqual([whole.choices[0]?.text, pieces.join('')], [text, text])
    }),
    { numRuns: 75 },
  )
})

/** A unique piece of text: its place in a body shows its fate. */
const word = (kind: string) => fc.integer({ min: 0, max: 0xffffff }).map((id) => `${kind}${id.toString(16).padStart(6, '0')}`)
const schema = { type: 'object', properties: { city: { type: 'string' } } }

/** Conversations in OpenAI's words: instructions, turns of texts, and rounds of calls, whose results come in another order. */
const conversations = fc
  .record({
    system: word('s'),
    turns: fc.array(fc.tuple(word('w'), word('w')), { maxLength: 2 }),
    rounds: fc.array(fc.array(fc.tuple(word('w'), word('r')), { minLength: 1, maxLength: 3 }), { maxLength: 2 }),
    last: word('w'),
    max: fc.integer({ min: 16, max: 4000 }),
  })
  .map(({ system, turns, rounds, last, max }) => ({
    model: 'some-model',
    max_tokens: max,
    messages: [
      { role: 'system', content: system },
      ...turns.flatMap(([asked, said]) => [
        { role: 'user', content: asked },
        { role: 'assistant', content: said },
      ]),
      { role: 'user', content: last },
      ...rounds.flatMap((calls, round) => [
        {
          role: 'assistant',
          content: null,
          tool_calls: calls.map(([city], index) => ({
            id: `call_${round}_${index}`,
            type: 'function',
            function: { name: 'weather', arguments: JSON.stringify({ city }) },
          })),
        },
        ...calls.map(([, result], index) => ({ role: 'tool', tool_call_id: `call_${round}_${index}`, content: result })).toReversed(),
      ]),
    ],
    tools: rounds.length > 0 ? [{ type: 'function', function: { name: 'weather', parameters: schema } }] : undefined,
  }))

type Conversation = Parameters<Parameters<typeof conversations.map>[0]>[0]

/** The texts for a provider: each word once, those of a kind in their order. */
const toldIn = (body: unknown, kind: string): readonly string[] => [
  ...new Set(JSON.stringify(body).match(new RegExp(`\\b${kind}[0-9a-f]{6}\\b`, 'g'))),
]

const clients = ['openai-chat', 'openai-responses', 'anthropic', 'google'] as const satisfies readonly DialectId[]
const providers: readonly DialectId[] = [...clients, 'bedrock', 'cohere', 'ollama', 'oracle', 'workers-ai', 'replicate']

/** Writes a conversation in a client's words. */
const inWordsOf = (client: DialectId, conversation: Conversation): Body =>
  client === 'openai-chat' ? { ...conversation } : { ...translator('openai-chat', client, {})(conversation).body, model: 'some-model' }

for (const client of clients)
  test(`${client}: a conversation means the same at every provider, and in every format from there`, (t) => {
    fc.assert(
      fc.property(conversations, (conversation) => {
        const asked = inWordsOf(client, conversation)
        for (const provider of providers.filter((one) => one !== client)) {
          // One prompt holds no calls.
          if (provider === 'replicate' && 'tools' in conversation) continue
          const { body } = translator(client, provider, {})(asked)
          for (const kind of ['s', 'w']) t.deepEqual(toldIn(body, kind), toldIn(asked, kind), `${kind} at ${provider}`)
          // Where results have no ids they stand in the order of their calls.
          t.deepEqual(toldIn(body, 'r').toSorted(), toldIn(asked, 'r').toSorted(), `results at ${provider}`)
          t.true(JSON.stringify(body).includes(`:${conversation.max_tokens}`), provider)
          const onward = codecs.find(({ id }) => id === provider)?.request.decode(body)
          if (onward === undefined) continue
          const results = onward.turns.flatMap(({ parts }) => parts.filter(({ kind }) => kind === 'tool-result'))
          const calls = onward.turns.flatMap(({ parts }) => parts.filter(({ kind }) => kind === 'tool-call'))
          t.deepEqual(
            results.map((part) => String(Reflect.get(part, 'callId'))).toSorted(),
            calls.map((part) => String(Reflect.get(part, 'id'))).toSorted(),
          )
        }
      }),
      { numRuns: 20 },
    )
  })
