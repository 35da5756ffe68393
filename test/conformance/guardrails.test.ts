import test, { type ExecutionContext } from 'ava'
import { cases, type Fixture, isSaid } from './cases.ts'
import { expectedOf, takesTools } from './expected.ts'
import { listen } from './listen.ts'
import { addressAt, type Product, type SpokenCell, startProduct } from './product.ts'
import { dialectProviders, pairs, sideFor, talkers } from './sides/index.ts'
import type { Lines, Say } from './talk.ts'

/**
 * Guardrails read and change the texts of the client, in its own format, for every provider: requests before they are translated, answers after it,
 * streams as they come.
 */
let product: Product

test.before(async () => {
  product = await startProduct()
})
test.after.always(() => product?.stop())
test.beforeEach(() => product.emulator.reset())

type Guardrail = Readonly<Record<string, unknown>>
type Guardrails = Readonly<Partial<Record<'input_guardrails' | 'output_guardrails', readonly Guardrail[]>>>

const replace = (rule: string, redactText: string): Guardrail => ({ 'default.regexReplace': { rule, redactText } })
const forbid = (rule: string): Guardrail => ({ 'default.regexMatch': { rule, not: true }, deny: true, message: 'Stopped.' })

/** Talks once by a config with these guardrails. Returns the client's answer and the provider's request. */
async function talk(cell: SpokenCell, { ask, stream, says }: Fixture, guardrails: Guardrails): Promise<{ said: Lines; heard: Lines[] }> {
  const heard = listen(product.emulator, sideFor(cell.client, cell.provider), says)
  const address = addressAt(product.bed, cell)
  const config = { provider: `@${cell.provider}`, ...guardrails }
  const { said } = await talkers[cell.client]({ ...address, headers: { 'x-service-config': JSON.stringify(config) } }).talk(ask, stream)
  return { said, heard }
}

async function isDenied(t: ExecutionContext, cell: SpokenCell, fixture: Fixture, guardrails: Guardrails): Promise<void> {
  const error: Error & { status?: number } = await t.throwsAsync(talk(cell, fixture, guardrails))
  t.is(error.status, 446)
  t.regex(error.message, /Stopped\./)
}

const [plain, stream] = [cases.plain[0], cases.stream[0]]
const calls: readonly Fixture[] = cases.tools.map((fixture: Fixture) => ({ ...fixture, says: fixture.says.slice(0, 1) }))
/** A provider without tools makes no calls. */
const callsAt = (cell: SpokenCell) => (takesTools(cell.provider) ? calls.filter((fixture) => isSaid(fixture, cell.client)) : [])
const paris = { text: 'Sun ☀ in Paris.', stop: 'stop', counts: { input: 20, cached: 0, output: 7, thought: 0 } } as const satisfies Say
const long: Fixture = {
  ...stream,
  says: [{ ...paris, text: `${'All is well. '.repeat(90)}The secret is out. ${'All is well. '.repeat(30)}` }],
}

type Run = (t: ExecutionContext, cell: SpokenCell) => Promise<void>

const runs: Readonly<Record<string, Run>> = {
  async 'what the client reads is changed'(t, cell) {
    for (const fixture of [plain, stream]) {
      const { said } = await talk(cell, fixture, { output_guardrails: [replace('Paris', 'Rome')] })
      t.deepEqual(
        said,
        expectedOf(cell, fixture).said[0]?.map((line) => line.replace('Paris', 'Rome')),
      )
    }
  },
  async 'what the provider hears is changed'(t, cell) {
    for (const fixture of [plain, stream]) {
      const { heard } = await talk(cell, fixture, { input_guardrails: [replace('Paris', 'Rome')] })
      t.deepEqual(
        heard,
        expectedOf(cell, fixture).heard.map((lines) => lines.map((line) => line.replace('Paris', 'Rome'))),
      )
    }
  },
  async 'an answer is held, and goes on as it is'(t, cell) {
    for (const fixture of [plain, stream, ...callsAt(cell)])
      for (const rule of [forbid('Berlin'), { 'default.contains': { words: ['Paris'] }, deny: true }]) {
        const { said } = await talk(cell, fixture, { output_guardrails: [rule] })
        t.deepEqual(said, expectedOf(cell, fixture).said[0])
      }
  },
  async 'a request is denied, and the provider hears nothing of it'(t, cell) {
    await isDenied(t, cell, plain, { input_guardrails: [forbid('Paris')] })
    await isDenied(t, cell, stream, { input_guardrails: [forbid('Paris')] })
    t.is(product.emulator.requests.length, 0)
  },
  async 'an answer is denied for its text, or for the arguments of a call'(t, cell) {
    for (const fixture of [plain, stream, ...callsAt(cell)]) await isDenied(t, cell, fixture, { output_guardrails: [forbid('Paris')] })
  },
  async 'a long stream ends with an error before what is forbidden'(t, cell) {
    const error: Error = await t.throwsAsync(talk(cell, long, { output_guardrails: [forbid('secret')] }))
    t.regex(error.message, /Stopped\./)
    t.notRegex(error.message, /secret is out/)
  },
}

for (const [client, provider] of pairs)
  if (dialectProviders.includes(provider) || provider === 'claude-bedrock')
    for (const [title, run] of Object.entries(runs))
      test.serial(`${client} at ${provider}: ${title}`, (t) => run(t, { client, provider, name: 'plain' }))
