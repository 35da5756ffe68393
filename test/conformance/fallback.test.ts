import test, { type ExecutionContext } from 'ava'
import { json } from '../support/dialects/strict.ts'
import type { Behaviour } from '../support/emulator/behaviour.ts'
import type { Received } from '../support/emulator/emulator.ts'
import { cases, type Fixture, isSaid } from './cases.ts'
import { expectedOf, takesTools } from './expected.ts'
import { addressAt, type Product, startProduct } from './product.ts'
import { dialectProviders, providers, talkers } from './sides/index.ts'
import type { ClientId, Lines, ProviderId, Say, Talk } from './talk.ts'

/**
 * A conversation whose provider fails in its midst goes on at a provider of another dialect, and comes back: with every call and result under its
 * name and, at the provider that signed them, with its thoughts. Both providers refuse the same requests as the real ones.
 */
let product: Product

test.before(async () => {
  product = await startProduct()
})
test.after.always(() => product?.stop())
test.beforeEach(() => product.emulator.reset())

interface Way {
  readonly client: ClientId
  readonly from: ProviderId
  readonly to: ProviderId
  readonly stream: boolean
}

const thinking: readonly Fixture[] = cases['reasoning over two turns']
const results: Readonly<Record<string, string>> = { weather: 'sunny', time: '12:00' }
const thought = { text: 'Paris is in France.', signature: 'c2lnbmVkIGJ5IHRoZSB2ZW5kb3I=' }
const first: Say = {
  calls: [{ id: 'call_weather', name: 'weather', args: { city: 'Paris' } }],
  stop: 'tool-calls',
  counts: { input: 20, cached: 0, output: 7, thought: 0 },
}
const second: Say = {
  calls: [{ id: 'call_time', name: 'time', args: { zone: 'CET' } }],
  stop: 'tool-calls',
  counts: first.counts,
}
const last: Say = { text: 'Sun at noon.', stop: 'stop', counts: first.counts }
const calls: Lines = ['assistant call weather {"city":"Paris"}', 'result weather sunny']
const laterCalls: Lines = ['assistant call time {"zone":"CET"}', 'result time 12:00']

/** A step of the script: the provider, and its answer; null: it is out of order. */
type Step = readonly [provider: ProviderId, say: Say | null]

/** Together AI, which stands for the dialect, takes thoughts of earlier turns; OpenAI itself, by which the emulator is made, does not. */
function withoutThoughts(received: Received): Received {
  const body = received.json as { readonly messages: readonly object[] }
  const messages = body.messages.map((message) => ({ ...message, reasoning: undefined }))
  return { ...received, json: JSON.parse(JSON.stringify({ ...body, messages })) }
}

/** Lets the providers answer in this order, and keeps their requests. */
function play(steps: readonly Step[]): Lines[] {
  const heard: Lines[] = []
  const answer = (received: Received): Behaviour => {
    const step = steps[heard.length]
    if (step === undefined) throw new Error('nothing is left to say')
    const [provider, say] = step
    const { side } = providers[provider]
    const refusal = side.refusal(provider === 'openai-chat' ? withoutThoughts(received) : received)
    heard.push(refusal === null ? side.heard(received) : [`refused: ${refusal}`])
    if (refusal !== null) return json(side.error(400, `strict: ${refusal}`), 400)
    if (say === null) return json(side.error(503, 'out of order'), 503)
    return side.isStream(received) ? side.stream(say, received) : side.whole(say, received)
  }
  product.emulator.script({ behaviour: answer })
  return heard
}

const answered = (talk: Talk): Promise<Talk> =>
  talk.answer(talk.calls.map(({ id, name }) => ({ result: { id, name, text: results[name] ?? '' } })))

/** A provider that does not think for a client does not begin with thoughts. */
const thinks = (fixture: Fixture, { client, from, to }: Way) =>
  [from, to].every((id) => providers[id].lacks?.some(({ of }) => of(fixture, client)) !== true)

const isThought = (line: string) => /^(assistant thought|signed)/.test(line)
const signed = (lines: Lines) => lines.filter(isThought)

/** The fields that a client gives to be asked in a provider's own format. */
const optionsOf = (provider: ProviderId, client: ClientId) => Object(providers[provider].extraFor?.[client]?.['provider_options'])

async function moves(t: ExecutionContext, way: Way): Promise<void> {
  const { client, from, to, stream } = way
  const fixture = thinking.find((one) => one.stream === stream)
  if (fixture === undefined) throw new Error('no case')
  const isThinking = thinks(fixture, way)
  const said: Say = isThinking ? { ...first, thought, counts: { ...first.counts, thought: 4 } } : first
  const modelAt = (provider: ProviderId) => addressAt(product.bed, { client, provider, name: 'tools' }, isThinking).model
  const config = {
    strategy: { mode: 'fallback' },
    targets: [from, to].map((id) => ({ provider: `@${id}`, override_params: { model: modelAt(id) } })),
  }
  const address = addressAt(product.bed, { client, provider: from, name: 'tools' }, isThinking)
  const extra = { provider_options: { ...optionsOf(from, client), ...optionsOf(to, client) } }
  const heard = play([
    [from, said],
    [from, null],
    [to, second],
    [from, last],
  ])
  const ask = { ...fixture.ask, tools: cases['parallel tools'][0]?.ask.tools ?? [], thinks: isThinking }
  const begun = await talkers[client]({ ...address, extra, headers: { 'x-service-config': JSON.stringify(config) } }).talk(ask, stream)
  const end = await answered(await answered(begun))
  t.true(end.said.includes('text Sun at noon.'))
  t.is(heard.length, 4)
  const [, , there, back] = heard.map((lines) =>
    lines.filter((line) => /^(assistant call|result|assistant thought|signed|refused)/.test(line)),
  )
  t.deepEqual(
    there?.filter((line) => !isThought(line)),
    calls,
  )
  t.deepEqual(
    back?.filter((line) => !isThought(line)),
    [...calls, ...laterCalls],
  )
  if (!isThinking) return
  const alone = expectedOf({ client, provider: from, name: 'reasoning over two turns' }, fixture).heard.at(-1) ?? []
  t.deepEqual(signed(back ?? []), signed(alone))
}

const ids = dialectProviders.filter(takesTools)
for (const client of (Object.keys(talkers) as ClientId[]).filter((one) => thinking.some((fixture) => isSaid(fixture, one))))
  for (const from of ids)
    test.serial(`${client}: a conversation goes from ${from} to every other and back`, async (t) => {
      for (const [index, to] of ids.entries()) {
        if (to === from) continue
        product.emulator.reset()
        await t.notThrowsAsync(moves(t, { client, from, to, stream: index % 2 === 0 }), `${from} to ${to}`)
      }
    })
