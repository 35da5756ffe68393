// A provider that has a request may make its answer, and charge for it, although nobody reads it to its end: it is never free, nor charged as its prompt alone.
import test from 'ava'
import { openBuiltIn } from '../../../src/app/prices/built-in.ts'
import { createPriceLists } from '../../../src/app/prices/price-lists.ts'
import type { ResolveName } from '../../../src/gateway/egress/names.ts'
import type { Ledger, LoggedCost } from '../../../src/gateway/ports.ts'
import { hello } from '../../support/charges.ts'
import type { Behaviour } from '../../support/emulator/behaviour.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

let emulator: Emulator
let bed: GatewayBed
let lookedUp = 0
const settled: Parameters<ReturnType<typeof reservation>['settle']>[] = []

/** A key of which 99 of 100 answers of the model `gpt-4o-mini` have 2,000 tokens. */
const reservation = (model: string | null) => ({
  maxOutput: null,
  standings: null,
  usualOutput: () => (model === 'gpt-4o-mini' ? 2000 : null),
  settle(...end: Parameters<Extract<ReturnType<Ledger['reserve']>, { settle: unknown }>['settle']>) {
    settled.push(end)
    return null
  },
})

const resolve: ResolveName = () => {
  lookedUp += 1
  return new Promise(() => {})
}

test.before(async () => {
  emulator = await startEmulator()
  const given = (provider: string) => [provider, { provider, customHost: emulator.url }] as const
  bed = await startGateway({
    providers: {
      ...Object.fromEntries(['openai', 'anthropic', 'google'].map(given)),
      away: { provider: 'openai', customHost: 'http://127.0.0.1:1/v1' },
      nameless: { provider: 'openai', customHost: 'https://nobody-answers.example/v1' },
    },
    ledger: { reserve: ({ target }) => reservation(target.model) },
    resolve,
    settings: { maxJsonBytes: mostHeld },
    prices: createPriceLists({ layers: [], builtIn: openBuiltIn() }),
  })
})
test.after.always(async () => {
  await bed?.stop()
  await emulator?.stop()
})
test.beforeEach(() => {
  emulator.reset()
  settled.length = 0
})

interface Unseen {
  readonly provider?: string
  readonly path?: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  readonly behaviour: Behaviour
  /** What the caller waits for before it leaves; absent: it stays. */
  readonly leaves?: 'request' | 'bytes' | 'lookup'
  readonly state: LoggedCost['state']
  readonly amount: string | null
  /** True if budgets keep their reservation. */
  readonly isHeld: boolean
}

const hangs: Behaviour = { hang: 'before-headers' }
const bounded = { model: 'gpt-4o', messages: hello, max_tokens: 50 }
const guess = { state: 'estimated', isHeld: true } as const
const free = { state: 'not_charged', amount: '0', isHeld: false } as const
const chats = '/v1/chat/completions'
const answer = {
  id: 'x',
  object: 'chat.completion',
  model: 'gpt-4o',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello '.repeat(400) } }],
}
const whole: Behaviour = { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(answer) }
const mostHeld = 2 * 1024 * 1024
const events: Behaviour = { status: 200, headers: { 'content-type': 'text/event-stream' } }
const timed = { 'x-service-request-timeout': '150' }

// gpt-4o: 8 tokens of the prompt at 2,500,000, and each token of an answer at 10,000,000.
const unseen: Readonly<Record<string, Unseen>> = {
  'the caller leaves: as much output as the request allows': { behaviour: hangs, leaves: 'request', ...guess, amount: '520000000' },
  'the caller leaves: all answers of a request for several': {
    body: { ...bounded, n: 3 },
    behaviour: hangs,
    leaves: 'request',
    ...guess,
    amount: '1520000000',
  },
  'the caller leaves a request without a bound: 1,024 tokens': {
    body: { model: 'gpt-4o', messages: hello },
    behaviour: hangs,
    leaves: 'request',
    ...guess,
    amount: '10260000000',
  },
  // 8 x 150,000 + 2,000 x 600,000
  'the caller leaves a request without a bound: the usual output': {
    body: { model: 'gpt-4o-mini', messages: hello },
    behaviour: hangs,
    leaves: 'request',
    ...guess,
    amount: '1201200000',
  },
  'no request has more output than its model gives': {
    body: { ...bounded, max_tokens: 10_000_000 },
    behaviour: hangs,
    leaves: 'request',
    ...guess,
    amount: '163860000000',
  },
  'the caller leaves after the head': { behaviour: { ...whole, hang: 'after-headers' }, leaves: 'request', ...guess, amount: '520000000' },
  'the caller leaves in the midst of the answer': {
    behaviour: { ...whole, hang: 'mid-body', hangAt: 2000 },
    leaves: 'bytes',
    ...guess,
    amount: 'more',
  },
  'the caller leaves a stream that has not begun: it ends with its reader': {
    body: { ...bounded, stream: true },
    behaviour: hangs,
    leaves: 'request',
    state: 'estimated',
    amount: '20000000',
    isHeld: false,
  },
  // Claude counts 115 tokens for 100: 10 x 3,000,000 + 50 x 15,000,000
  'the caller leaves a translated request': {
    provider: 'anthropic',
    body: { ...bounded, model: 'claude-sonnet-4-5' },
    behaviour: hangs,
    leaves: 'request',
    ...guess,
    amount: '780000000',
  },
  'what a model thinks is within the bound': {
    body: { model: 'gpt-5', messages: hello, max_completion_tokens: 50 },
    behaviour: hangs,
    leaves: 'request',
    ...guess,
    amount: '510000000',
  },
  'what a model thinks beside the usual output is not known': {
    body: { model: 'gpt-5', messages: hello },
    behaviour: hangs,
    leaves: 'request',
    state: 'partly_priced',
    amount: '10250000000',
    isHeld: true,
  },
  // 2 x 20,000
  'vectors have no output': {
    path: '/v1/embeddings',
    body: { model: 'text-embedding-3-small', input: 'hello world' },
    behaviour: hangs,
    leaves: 'request',
    state: 'estimated',
    amount: '40000',
    isHeld: false,
  },
  // As gpt-image-1 of low quality costs
  'images are counted as they are asked': {
    path: '/v1/images/generations',
    body: { model: 'gpt-image-1', prompt: 'a hat', quality: 'low', size: '1024x1536' },
    behaviour: hangs,
    leaves: 'request',
    state: 'estimated',
    amount: '16000000000',
    isHeld: false,
  },
  'the time of the request is up': { headers: timed, behaviour: hangs, ...guess, amount: '520000000' },
  'the time of the request is up after the head': {
    headers: timed,
    behaviour: { ...whole, hang: 'after-headers' },
    ...guess,
    amount: '520000000',
  },
  'the time of a translated request is up': {
    provider: 'anthropic',
    headers: timed,
    body: { ...bounded, model: 'claude-sonnet-4-5' },
    behaviour: { ...whole, hang: 'mid-body', hangAt: 10 },
    ...guess,
    amount: '780000000',
  },
  'the connection breaks in the midst of a translated answer': {
    provider: 'anthropic',
    body: { ...bounded, model: 'claude-sonnet-4-5' },
    behaviour: { ...whole, cutAt: 20 },
    ...guess,
    amount: '780000000',
  },
  'a translated answer is larger than is held': {
    provider: 'anthropic',
    body: { ...bounded, model: 'claude-sonnet-4-5' },
    behaviour: { ...whole, body: JSON.stringify({ ...answer, padding: 'x'.repeat(mostHeld) }) },
    ...guess,
    amount: '780000000',
  },
  'an event of a translated stream is too long': {
    provider: 'anthropic',
    body: { ...bounded, model: 'claude-sonnet-4-5', stream: true },
    behaviour: { ...events, body: `data: {"padding":"${'x'.repeat(33 * 1024 * 1024)}` },
    ...guess,
    amount: '780000000',
  },
  'a translated stream ends before it is complete': {
    provider: 'anthropic',
    body: { ...bounded, model: 'claude-sonnet-4-5', stream: true },
    behaviour: { ...events, body: 'event: ping\ndata: {"type":"ping"}\n\n' },
    ...guess,
    amount: '780000000',
  },
  'the connection breaks in the midst of an answer': { behaviour: { ...whole, cutAt: 20 }, ...guess, amount: '520000000' },
  'the connection breaks long after the request': { behaviour: { delayMs: 2300, raw: '' }, ...guess, amount: '520000000' },
  'the connection breaks at once: nobody read the request': { behaviour: { raw: '' }, ...free },
  'nobody is at the host': { provider: 'away', behaviour: {}, ...free },
  'the caller leaves before there is a connection': { provider: 'nameless', behaviour: {}, leaves: 'lookup', ...free },
}

async function leave(
  call: Promise<Response>,
  leaves: NonNullable<Unseen['leaves']>,
  before: { arrival: Promise<unknown>; lookups: number },
) {
  if (leaves === 'request') await before.arrival
  else if (leaves === 'lookup') await eventually(() => lookedUp > before.lookups, 5000)
  else {
    const reader = (await call).body?.getReader()
    let size = 0
    while (size < 2000) size += (await reader?.read())?.value?.length ?? 2000
  }
}

for (const [name, one] of Object.entries(unseen))
  test.serial(`an answer that nobody saw: ${name}`, async (t) => {
    const { provider = 'openai', path = chats, body = bounded, headers = {}, behaviour, leaves } = one
    emulator.script({ behaviour })
    const arrival = leaves === 'request' ? emulator.next() : Promise.resolve()
    const [stop, lookups, logged] = [new AbortController(), lookedUp, bed.nextLog()]
    const call = fetch(`${bed.origin}${path}`, {
      method: 'POST',
      headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json', 'x-service-provider': `@${provider}`, ...headers },
      body: JSON.stringify(body),
      signal: stop.signal,
    })
    if (leaves !== undefined) {
      await leave(call, leaves, { arrival, lookups })
      stop.abort()
    }
    await call.then((response) => response.text()).catch(() => {})
    const { cost, usage, usageSource } = (await logged).record
    t.is(cost?.state, one.state)
    if (one.amount === 'more') t.true(BigInt(cost?.amount ?? 0) > 3_000_000_000n, cost?.amount ?? '')
    else t.is(cost?.amount, one.amount)
    if (usage !== null) t.is(usageSource, 'estimate')
    const [[charge, reached] = []] = settled
    const holds = charge?.isGuess === true || charge?.cost.state === 'unpriced' || charge?.cost.state === 'partly_priced'
    t.is(holds && reached === 'answered', one.isHeld)
  })
