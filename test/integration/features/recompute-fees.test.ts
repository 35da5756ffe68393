// Fees beside counts of tokens, and answers that several models made, follow new terms and new lists like every other cost: first in a dry run, then
// as adjustments beside the first figure, with their budgets.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { claude, hello, run } from '../../support/charges.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { doctor } from './doctor.ts'
import { type Answer, type Control, startControl, type Tenant } from './setup.ts'

type Fields = Readonly<Record<string, unknown>>

const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-lists-'))
const withinMs = 15_000
let control: Control
let acme: Tenant
let emulator: Emulator

/** The sold unit, its provider's answer, and its cost: by the first lists, by other terms, and by a newer list too. Worked out by hand. */
interface Sold {
  readonly provider: string
  readonly configurations: object
  readonly path: string
  readonly body: object
  readonly answer: Fields
  readonly multiplier: object
  /** The models of the newer list. */
  readonly newer: Fields
  readonly amounts: readonly [first: bigint, byTerms: bigint, byList: bigint]
}

const hundred = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }
const answered = (model: string): Fields => ({ id: 'x', object: 'chat.completion', model, choices: [], usage: hundred })
const model = (rates: object) => ({ kind: 'chat', prices: [{ rates }] })

const sold: Readonly<Record<string, Sold>> = {
  // 100 x 2,500,000 + 10 x 10,000,000 + $0.025
  // Half the tokens, twice the search: 125,000,000 + 50,000,000 + $0.05
  // 100 x 500,000 + 10 x 2,000,000 + 2 x $0.03
  'the fee of a chat model that always searches': {
    provider: 'openai',
    configurations: {},
    path: '/chat/completions',
    body: { model: 'gpt-4o-search-preview', messages: hello },
    answer: answered('gpt-4o-search-preview-2025-03-11'),
    multiplier: { default: 0.5, additional_units: { web_search: 2 } },
    newer: { 'gpt-4o-search-preview-2025-03-11': model({ input: 1_000_000, output: 4_000_000, web_search: 30_000_000_000 }) },
    amounts: [25_350_000_000n, 50_175_000_000n, 60_070_000_000n],
  },
  // 100 x 250,000 + 10 x 2,000,000 + 100 x 140,000 of routing
  // Routing three times: 25,000,000 + 20,000,000 + 42,000,000
  // 100 x 200,000 + 10 x 1,000,000 + 100 x 3 x 100,000
  'the fee of a routed model': {
    provider: 'azure-openai',
    configurations: {
      azure_auth_mode: 'default',
      azure_resource_name: 'res',
      azure_deployment_config: [
        { azure_deployment_name: 'router', azure_api_version: '2024-10-21', azure_model_slug: 'model-router', is_default: true },
      ],
    },
    path: '/chat/completions',
    body: { model: 'model-router', messages: hello },
    answer: answered('gpt-5-mini-2025-08-07'),
    multiplier: { additional_units: { routing: 3 } },
    newer: { 'gpt-5-mini-2025-08-07': model({ input: 200_000, output: 1_000_000, routing: 100_000 }) },
    amounts: [59_000_000n, 87_000_000n, 60_000_000n],
  },
  // Sonnet 100 x 3,000,000 + 7 x 15,000,000, Opus 10 x 5,000,000 + 20 x 25,000,000, a search $0.01; the run that was blocked is free
  // All twice
  // Sonnet alone is in the newer list: 2 x (100 x 1,000,000 + 7 x 2,000,000), Opus and the search as before
  'an answer of Claude that several models made': {
    provider: 'anthropic',
    configurations: {},
    path: '/messages',
    body: { model: 'claude-opus-4-6', max_tokens: 10, messages: hello },
    answer: claude({
      input_tokens: 10,
      output_tokens: 20,
      server_tool_use: { web_search_requests: 1 },
      iterations: [run('claude-sonnet-4-5', 100, 7), run('claude-sonnet-4-5', 900, 0), run('claude-opus-4-6', 10, 20)],
    }),
    multiplier: { default: 2 },
    newer: { 'claude-sonnet-4-5': model({ input: 1_000_000, output: 2_000_000 }) },
    amounts: [10_955_000_000n, 21_910_000_000n, 21_328_000_000n],
  },
  // Of each prompt 100 x 300,000 + 10 x 2,500,000, and $0.035 because it rests on searches
  // The search half: 55,000,000 + $0.0175
  // 100 x 200,000 + 10 x 1,000,000 + half of $0.01
  'completions of two prompts, each answered by a chat': {
    provider: 'google',
    configurations: {},
    path: '/completions',
    body: { model: 'gemini-2.5-flash', prompt: ['one', 'two'] },
    answer: {
      modelVersion: 'gemini-2.5-flash',
      candidates: [
        { content: { role: 'model', parts: [{ text: 'so' }] }, finishReason: 'STOP', groundingMetadata: { webSearchQueries: ['a', 'b'] } },
      ],
      usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 },
    },
    multiplier: { additional_units: { web_search: 0.5 } },
    newer: { 'gemini-2.5-flash': model({ input: 200_000, output: 1_000_000, web_search: 10_000_000_000 }) },
    amounts: [70_110_000_000n, 35_110_000_000n, 10_060_000_000n],
  },
}

/** By provider: the key that spent, its id, and the log of its request. */
const spent = new Map<string, { readonly keyId: string; readonly logId: string }>()

async function made(key: string, method: string, at: string, body?: object): Promise<Fields> {
  const response = await control.call(key, method, at, body)
  if (response.status !== 200) throw new Error(response.text)
  return response.body
}

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl({}, { MODEL_CONFIGS_PRICING_LOCAL_PATH: folder }), startEmulator()])
  acme = await control.createTenant('acme')
  for (const one of Object.values(sold)) {
    const { provider, configurations } = one
    emulator.script({ behaviour: { status: 200, body: JSON.stringify(one.answer) } })
    await made(acme.workspaceKey, 'POST', '/integrations', {
      name: provider,
      slug: provider,
      ai_provider_id: provider,
      key: 'k',
      configurations: { ...configurations, custom_host: emulator.url },
    })
    await made(acme.workspaceKey, 'POST', '/providers', { name: provider, slug: `at-${provider}`, integration_id: provider })
    const { id, key } = await made(acme.adminKey, 'POST', '/api-keys/workspace/service', {
      name: provider,
      workspace_id: acme.workspaceId,
      scopes: ['completions.write'],
      usage_limits: { type: 'cost', credit_limit: 1, on_unpriced: 'allow' },
    })
    const { status, text, headers } = await send(`${control.origin}/v1${one.path}`, {
      method: 'POST',
      headers: { 'x-service-api-key': String(key), 'content-type': 'application/json', 'x-service-provider': `@at-${provider}` },
      body: JSON.stringify(one.body),
    })
    if (status !== 200) throw new Error(text)
    const logId = String(headers['x-service-request-id'])
    await eventually(async () => (await control.call(acme.workspaceKey, 'GET', `/logs/${logId}`)).status === 200, withinMs)
    spent.set(provider, { keyId: String(id), logId })
  }
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const costOf = async (provider: string) =>
  (await made(acme.workspaceKey, 'GET', `/logs/${spent.get(provider)?.logId}/cost`)) as Fields & { readonly adjustments: readonly Fields[] }

async function usedBy(provider: string): Promise<unknown> {
  const { usage_limits: limits } = await made(acme.adminKey, 'GET', `/api-keys/${spent.get(provider)?.keyId}`)
  return (limits as Fields)['current_usage']
}

/** A budget is read in dollars, as its limit is written. */
const dollars = (pico: bigint) => Number(pico) / 1e12

const each = Object.entries(sold)
const sumAt = (at: 0 | 1 | 2) => each.reduce((sum, [, { amounts }]) => sum + amounts[at], 0n)

for (const [name, { provider, amounts }] of each)
  test.serial(`${name}: what it cost first, and what its budget has of it`, async (t) => {
    t.like(await costOf(provider), { cost_pico_usd: String(amounts[0]), adjustments: [], state: 'priced' })
    await eventually(async () => (await usedBy(provider)) === dollars(amounts[0]), withinMs, String(await usedBy(provider)))
    t.is(await usedBy(provider), dollars(amounts[0]))
  })

type Recompute = (body: object) => Promise<Answer>

/** Works out all costs again, first in a dry run. */
async function workOut(recompute: Recompute, to: 1 | 2, reason: string) {
  const from = to === 1 ? 0 : 1
  const figures = {
    requests: each.length,
    changed: each.length,
    before_pico_usd: String(sumAt(from)),
    after_pico_usd: String(sumAt(to)),
    delta_pico_usd: String(sumAt(to) - sumAt(from)),
  }
  const range = { start: '2020-01-01T00:00:00Z', end: '2100-01-01T00:00:00Z', reason }
  const dry = await recompute(range)
  const held = await Promise.all(each.map(([, { provider }]) => Promise.all([costOf(provider), usedBy(provider)])))
  const done = await recompute({ ...range, dry_run: false })
  return { figures, dry, held, done, again: await recompute({ ...range, dry_run: false }) }
}

const changes: readonly { readonly what: string; readonly to: 1 | 2; readonly prepare: () => Promise<Recompute> }[] = [
  {
    what: 'other terms of the integrations',
    to: 1,
    async prepare() {
      for (const [, { provider, multiplier }] of each)
        await made(acme.adminKey, 'PUT', `/integrations/${provider}`, { pricing_adjustments: { multiplier } })
      return (body) => control.call(acme.adminKey, 'POST', '/costs/recompute', body)
    },
  },
  {
    what: 'a newer list',
    to: 2,
    async prepare() {
      for (const [, { provider, newer }] of each)
        writeFileSync(
          path.join(folder, `${provider}.json`),
          JSON.stringify({ schema: 1, provider, currency: 'USD', unit: 'pUSD', as_of: '2026-11-27', models: newer }),
        )
      const origin = await control.openBeside()
      return async (body) => {
        const response = await send(`${origin}/v1/costs/recompute`, {
          method: 'POST',
          headers: { 'x-service-api-key': acme.adminKey, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
        return { ...response, body: JSON.parse(response.text) as Fields }
      }
    },
  },
]

for (const { what, to, prepare } of changes)
  test.serial(`${what}: told first, then written beside the first figure, to the last digit, and budgets follow`, async (t) => {
    const { figures, dry, held, done, again } = await workOut(await prepare(), to, what)
    t.like(dry.body, { dry_run: true, ...figures }, dry.text)
    for (const [at, [, { amounts }]] of each.entries()) {
      const before = amounts[to - 1] ?? 0n
      const [cost, used] = held[at] ?? []
      t.like(cost, { total_pico_usd: String(before) }, 'a dry run changes nothing')
      t.is(used, dollars(before))
    }
    t.like(done.body, { dry_run: false, ...figures }, done.text)
    t.like(again.body, { changed: 0, delta_pico_usd: '0' })
    for (const [name, { provider, amounts }] of each) {
      const { adjustments, ...cost } = await costOf(provider)
      t.like(cost, { cost_pico_usd: String(amounts[0]), total_pico_usd: String(amounts[to]) }, name)
      t.is(adjustments.length, to, name)
      t.like(
        adjustments.find(({ reason }) => reason === what),
        { state: 'priced', cost_pico_usd: String(amounts[to]), delta_pico_usd: String(amounts[to] - (amounts[to - 1] ?? 0n)) },
        name,
      )
      await eventually(async () => (await usedBy(provider)) === dollars(amounts[to]), withinMs, `the budget of ${provider}`)
    }
    t.deepEqual((await doctor(control)).differences, [])
  })
