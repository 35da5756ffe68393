import test from 'ava'
import type { Emulator } from '../support/emulator/emulator.ts'
import { takesTools } from './expected.ts'
import { listen } from './listen.ts'
import { addressAt, type Product, startProduct } from './product.ts'
import { dialectProviders, isServed, sideFor, talkers } from './sides/index.ts'
import type { Ask, ClientId, ProviderId, Say, Stop } from './talk.ts'

/** Reasons to stop that contradict the content, from each provider to each client of another format: a call is reported as one, and no other. */
let product: Product
let emulator: Emulator

test.before(async () => {
  product = await startProduct()
  ;({ emulator } = product)
})
test.after.always(() => product?.stop())
test.beforeEach(() => emulator.reset())

const calls = [{ id: 'call_1', name: 'weather', args: { city: 'Paris' } }]
const counts = { input: 20, cached: 0, output: 7, thought: 0 }
const contents = {
  'a text': { text: 'Sun.' },
  'a call': { calls },
  'a text and a call': { text: 'Let me see.', calls },
  nothing: {},
} as const satisfies Readonly<Record<string, Partial<Say>>>

const ask: Ask = {
  turns: [{ role: 'user', pieces: [{ text: 'Weather?' }] }],
  tools: [{ name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } }],
  maxTokens: 50,
}
/** The reason that a client must get, by the presence of a call. */
const fits = (stop: Stop, hasCall: boolean): Stop =>
  hasCall && stop !== 'length' ? 'tool-calls' : !hasCall && stop === 'tool-calls' ? 'stop' : stop

const clients = ['openai-chat', 'openai-responses', 'anthropic', 'google'] as const
const own: Readonly<Partial<Record<ProviderId, ClientId>>> = {
  vertex: 'google',
  'azure-openai': 'openai-chat',
  'azure-openai-v1': 'openai-chat',
  'azure-ai': 'openai-chat',
  'claude-bedrock': 'anthropic',
  'claude-vertex': 'anthropic',
  'claude-azure': 'anthropic',
  mistral: 'openai-chat',
  huggingface: 'openai-chat',
}

/** Google's format has no word for calls: a text that ends with `STOP` is whole. */
const stopsFor = (client: ClientId): readonly Stop[] => (client === 'google' ? ['stop', 'length'] : ['stop', 'tool-calls', 'length'])

for (const client of clients)
  for (const provider of dialectProviders.filter(takesTools)) {
    if (!isServed(client, provider) || (own[provider] ?? provider) === client) continue
    for (const [title, content] of Object.entries(contents))
      for (const stream of [false, true])
        test.serial(`${client} at ${provider}: ${title}, ${stream ? 'streamed' : 'whole'}`, async (t) => {
          for (const stop of stopsFor(client)) {
            emulator.reset()
            listen(emulator, sideFor(client, provider), [{ ...content, stop, counts }])
            const talk = await talkers[client](addressAt(product.bed, { client, provider, name: 'tools' })).talk(ask, stream)
            const told = talk.said.find((line) => line.startsWith('stop '))
            t.is(talk.calls.length, 'calls' in content ? 1 : 0, stop)
            t.is(told, `stop ${client === 'google' ? stop : fits(stop, 'calls' in content)}`, stop)
          }
        })
  }
