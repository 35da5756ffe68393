// Usage objects that contradict themselves: priced by their consistent part, marked in the log, counted by provider.
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let emulator: Emulator
let usage: object = {}

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  emulator.script({
    behaviour: ({ url }) => ({
      status: 200,
      body: JSON.stringify(
        url.includes('generateContent')
          ? { modelVersion: 'gemini-2.5-flash', candidates: [], usageMetadata: usage }
          : { model: 'gpt-4o', choices: [], usage },
      ),
    }),
  })
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})

const chat = { provider: 'openai', path: '/chat/completions', body: { model: 'gpt-4o', messages: [] } }
const google = { provider: 'google', path: '/models/gemini-2.5-flash:generateContent', body: { contents: [] } }
const responses = { provider: 'openai', path: '/responses', body: { model: 'gpt-4o', input: 'hi' } }

type Line = Readonly<Record<string, unknown>>

/** How often a provider contradicted itself, from the metrics. */
async function counted(provider: string): Promise<number> {
  const { text } = await send(`${control.origin}/metrics`, {})
  return Number(new RegExp(`^gateway_usage_inconsistent_total\\{provider="${provider}"\\} (\\S+)$`, 'm').exec(text)?.[1] ?? 0)
}

async function costOf(trace: string, { provider, path, body }: typeof chat | typeof google | typeof responses): Promise<Line> {
  const headers = {
    'x-service-api-key': acme.workspaceKey,
    'content-type': 'application/json',
    'x-service-provider': provider,
    'x-service-custom-host': emulator.url,
    'x-service-trace-id': trace,
    authorization: 'Bearer sk',
    'x-goog-api-key': 'sk',
  }
  const { status, text } = await send(`${control.origin}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (status !== 200) throw new Error(text)
  let id = ''
  await eventually(async () => {
    const { body: found } = await control.call(acme.workspaceKey, 'GET', `/logs?trace_id=${trace}`)
    id = (found['data'] as readonly { readonly id: string }[] | undefined)?.[0]?.id ?? ''
    return id !== ''
  }, 15_000)
  return (await control.call(acme.workspaceKey, 'GET', `/logs/${id}/cost`)).body
}

/** `counts`: the priced counts. */
const cases: readonly (readonly [
  what: string,
  asked: typeof chat | typeof google | typeof responses,
  usage: object,
  inconsistent: boolean,
  counts: object,
])[] = [
  ['all adds up', chat, { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }, false, { input: 10, output: 5 }],
  ['no total', chat, { prompt_tokens: 10, completion_tokens: 5 }, false, { input: 10, output: 5 }],
  [
    'reasoning beside the completion, in the total',
    chat,
    { prompt_tokens: 10, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 20 }, total_tokens: 35 },
    false,
    { input: 10, output: 5, reasoning: 20 },
  ],
  [
    'reasoning beside the completion, and not in the total',
    chat,
    { prompt_tokens: 10, completion_tokens: 5, reasoning_tokens: 20, total_tokens: 15 },
    false,
    { input: 10, output: 5, reasoning: 20 },
  ],
  [
    'more cached than asked',
    chat,
    { prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 25 }, completion_tokens: 5, total_tokens: 15 },
    true,
    { cache_read: 10, output: 5 },
  ],
  ['a total that is no sum', chat, { prompt_tokens: 10, completion_tokens: 5, total_tokens: 99 }, true, { input: 10, output: 5 }],
  ['a count below 0', chat, { prompt_tokens: 10, completion_tokens: -5, total_tokens: 10 }, true, { input: 10 }],
  [
    'a count below 0 within',
    chat,
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, prompt_tokens_details: { cached_tokens: -1 } },
    true,
    { input: 10, output: 5 },
  ],
  ['a count that is no whole number', chat, { prompt_tokens: 10, completion_tokens: 1.5 }, true, { input: 10 }],
  ['a count that no number holds exactly', chat, { prompt_tokens: 2 ** 53 + 2, completion_tokens: 5 }, true, { output: 5 }],
  ['the responses API, a wrong total', responses, { input_tokens: 10, output_tokens: 5, total_tokens: 16 }, true, { input: 10, output: 5 }],
  [
    'Gemini, all adds up',
    google,
    { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 7, toolUsePromptTokenCount: 3, totalTokenCount: 25 },
    false,
    { input: 13, output: 5, reasoning: 7 },
  ],
  [
    'Gemini, thoughts within the total of the candidates too',
    google,
    { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 7, totalTokenCount: 15 },
    true,
    { input: 10, output: 5, reasoning: 7 },
  ],
]

for (const [index, [what, asked, told, inconsistent, counts]] of cases.entries())
  test.serial(`usage: ${what}`, async (t) => {
    usage = told
    const cost = await costOf(`case-${index}`, asked)
    t.like(cost, { state: 'priced', usage: [{ inconsistent, usage: told }] })
    const lines = cost['lines'] as Line[]
    t.deepEqual(Object.fromEntries(lines.map(({ dimension, count }) => [dimension, count])), { ...counts })
    const sum = lines.reduce((total, { amount_pico_usd: amount }) => total + BigInt(String(amount)), 0n)
    t.is(String(sum), String(cost['cost_pico_usd']))
  })

test.serial('the metrics count each provider that contradicted itself', async (t) => {
  for (const provider of ['openai', 'google']) {
    const expected = cases.filter(([, asked, , inconsistent]) => inconsistent && asked.provider === provider).length
    await eventually(async () => (await counted(provider)) >= expected, 15_000, `${expected} of ${provider}`)
    t.is(await counted(provider), expected)
  }
})
