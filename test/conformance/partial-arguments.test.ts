import test from 'ava'
import { sse } from '../support/dialects/strict.ts'
import { addressAt, type Product, startProduct } from './product.ts'
import { talkers } from './sides/index.ts'
import type { ClientId } from './talk.ts'

/** Arguments that Gemini streams place by place (`streamFunctionCallArguments`) are whole at clients of every other format. */
let product: Product
test.before(async () => {
  product = await startProduct()
})
test.after.always(() => product?.stop())
test.beforeEach(() => product.emulator.reset())

type Body = Readonly<Record<string, unknown>>
const text = (jsonPath: string, stringValue: string, willContinue = false): Body => ({
  jsonPath,
  stringValue,
  ...(willContinue && { willContinue }),
})
const call = (functionCall: Body, rest: Body = {}): Body => ({ functionCall, ...rest })
const more = (...partialArgs: readonly Body[]): Body => call({ partialArgs, willContinue: true })

interface Case {
  readonly parts: readonly Body[]
  readonly args: readonly Body[]
}
const cases: Readonly<Record<string, Case>> = {
  'a text in pieces': {
    parts: [call({ name: 'look', willContinue: true }), more(text('$.city', 'Par', true)), more(text('$.city', 'is')), call({})],
    args: [{ city: 'Paris' }],
  },
  'all in one piece': { parts: [call({ name: 'look', partialArgs: [text('$.city', 'Paris')] })], args: [{ city: 'Paris' }] },
  'every kind of value': {
    parts: [
      call({ name: 'look', willContinue: true }),
      more({ jsonPath: '$.n', numberValue: 1.5 }, { jsonPath: '$.b', boolValue: false }, { jsonPath: '$.z', nullValue: 'NULL_VALUE' }),
      call({}),
    ],
    args: [{ n: 1.5, b: false, z: null }],
  },
  'objects, lists and odd names': {
    parts: [
      call({ name: 'look', willContinue: true }),
      more(text('$.a.b[0].c', 'x'), text('$.a.b[1].c', 'y', true)),
      more(text('$.a.b[1].c', 'z')),
      more(text("$['a b']['it\\'s']", 'q'), text('$["__proto__"].x', 'own')),
      call({}),
    ],
    args: [{ a: { b: [{ c: 'x' }, { c: 'yz' }] }, 'a b': { "it's": 'q' }, ['__proto__']: { x: 'own' } }],
  },
  'the same place twice': {
    parts: [call({ name: 'look', willContinue: true }), more(text('$.a', 'x')), more(text('$.a', 'y')), call({})],
    args: [{ a: 'y' }],
  },
  'a path that is none': { parts: [call({ name: 'look', partialArgs: [text('nowhere', 'x')] })], args: [{ nowhere: 'x' }] },
  'no arguments': { parts: [call({ name: 'look', willContinue: true }), call({})], args: [{}] },
  'a text within': {
    parts: [call({ name: 'look', willContinue: true }), { text: 'Hm.' }, more(text('$.a', 'x')), call({})],
    args: [{ a: 'x' }],
  },
  'two calls': {
    parts: [
      call({ name: 'look', willContinue: true }),
      more(text('$.a', 'x')),
      call({}),
      call({ name: 'see', willContinue: true }),
      more(text('$.b', 'y')),
      call({}),
    ],
    args: [{ a: 'x' }, { b: 'y' }],
  },
  'a whole call behind one in pieces': {
    parts: [call({ name: 'look', willContinue: true }), more(text('$.a', 'x')), call({ name: 'see', args: { b: 1 } })],
    args: [{ a: 'x' }, { b: 1 }],
  },
  'the end of the stream': { parts: [call({ name: 'look', willContinue: true }), more(text('$.a', 'x'))], args: [{ a: 'x' }] },
}

const clients: readonly ClientId[] = ['openai-chat', 'openai-responses', 'anthropic']
const ask = {
  turns: [{ role: 'user' as const, pieces: [{ text: 'Look.' }] }],
  tools: ['look', 'see'].map((name) => ({ name, parameters: { type: 'object', properties: {} } })),
  maxTokens: 50,
}

for (const client of clients)
  for (const [title, { parts, args }] of Object.entries(cases))
    test.serial(`${client}: ${title}`, async (t) => {
      const frames = parts.map((part) => ({ candidates: [{ content: { parts: [part], role: 'model' }, index: 0 }] }))
      const last = { candidates: [{ content: { parts: [{ text: '' }], role: 'model' }, finishReason: 'STOP', index: 0 }] }
      product.emulator.script({ behaviour: sse([...frames, last].map((frame) => [null, frame])) })
      const talk = await talkers[client](addressAt(product.bed, { client, provider: 'google', name: 'tools' })).talk(ask, true)
      t.deepEqual(
        talk.calls.map((one) => JSON.stringify(one.args)),
        args.map((one) => JSON.stringify(one)),
      )
      t.true(talk.said.includes('stop tool-calls'))
    })
