// oxlint-disable unicorn/no-thenable -- the name of a field in every config there is
import test from 'ava'
import type { GatewayConfig } from '../../../src/gateway/config/config.schema.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { send } from '../../support/http.ts'

let emulator: Emulator
let bed: GatewayBed
const readerKey = 'a-key-that-may-read-configs-0123456789'
const secret = 'canary-of-a-stored-header'

test.before(async () => {
  emulator = await startEmulator()
  const stored = { provider: 'openai', customHost: emulator.url, customHeaders: { 'x-corp': secret } } as const
  bed = await startGateway({
    keys: { [readerKey]: { scopes: new Set(['completions.write', 'configs.read']) } },
    providers: {
      a: stored,
      b: stored,
      ended: { ...stored, status: 'expired' },
      claude: { provider: 'anthropic', customHost: emulator.url },
    },
    guardrails: {
      words: { checks: [{ id: 'default.contains', parameters: { words: ['x'], operator: 'none' } }], actions: { onFail: 'block' } },
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await emulator?.stop()
})

interface Target {
  readonly option: string
  readonly reason: string
  readonly retries: number
  readonly breaker: string | null
  readonly provider_slug?: string
  readonly model?: string
  readonly cache?: { readonly status: string; readonly key: string | null }
  readonly guardrails?: { readonly input: readonly { readonly id: string; readonly checks: readonly unknown[] }[] }
  readonly request?: {
    readonly url: string
    readonly headers: Record<string, string>
    readonly body: Record<string, unknown>
    readonly changed_params: unknown
    readonly translated: boolean
    readonly dropped_params: readonly string[]
  }
  readonly error: { readonly code: string; readonly message: string } | null
}

interface Explanation {
  readonly object: string
  readonly operation: string
  readonly config: unknown
  readonly conditions: readonly { readonly option: string; readonly result: boolean | null; readonly target: string }[]
  readonly targets: readonly Target[]
}

async function explain(
  config: GatewayConfig | null,
  { body = {}, headers = {} }: { body?: object; headers?: Record<string, string> } = {},
) {
  const answer = await send(`${bed.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': readerKey,
      'content-type': 'application/json',
      'x-service-explain': 'true',
      ...(config !== null && { 'x-service-config': JSON.stringify(config) }),
      ...headers,
    },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body }),
  })
  const text = answer.body.toString()
  return { status: answer.status, text, explanation: JSON.parse(text) as Explanation }
}

const options = ({ targets }: Explanation) => targets.map(({ option }) => option)

test.serial('one target: the request as it would be sent, without its secrets, and nobody is called', async (t) => {
  const config = {
    provider: '@a',
    override_params: { temperature: 0, model: 'n' },
    drop_params: ['user'],
    cache: { mode: 'simple' },
  } as const
  const { status, text, explanation } = await explain(config, { body: { user: 'u' } })
  t.is(status, 200, text)
  const [target] = explanation.targets
  t.like(explanation, { object: 'explanation', operation: 'chatComplete', config: { slug: null, source: 'request' }, conditions: [] })
  t.like(target, { option: 'config', reason: 'It is the only target.', provider_slug: 'a', model: 'n', error: null })
  t.is(target?.request?.url, `${emulator.url}/chat/completions`)
  t.deepEqual(target?.request?.body, { model: 'n', messages: [{ role: 'user', content: 'hi' }], temperature: 0 })
  t.deepEqual(target?.request?.changed_params, { set: ['model', 'temperature'], dropped: ['user'] })
  t.like(target?.request?.headers, { authorization: '[credential]', 'x-corp': '[stored]' })
  t.is(target?.cache?.status, 'MISS')
  for (const hidden of [secret, 'sk-stored-a', readerKey]) t.false(text.includes(hidden), hidden)
  t.is(emulator.requests.length, 0)
  t.is(bed.logged.length, 1)
})

test.serial('a request for another format is shown in it, with what would be dropped', async (t) => {
  const { explanation } = await explain(null, { headers: { 'x-service-provider': '@claude' }, body: { max_tokens: 5, seed: 1 } })
  const request = explanation.targets[0]?.request
  t.is(request?.url, `${emulator.url}/messages`)
  t.deepEqual(request?.body, { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] })
  t.deepEqual([request?.translated, request?.dropped_params], [true, ['seed']])
  t.is(emulator.requests.length, 0)
})

test.serial('without a config: the target that the headers name', async (t) => {
  const { explanation } = await explain(null, { headers: { 'x-service-provider': '@b' } })
  t.is(explanation.config, null)
  t.is(explanation.targets[0]?.provider_slug, 'b')
})

test.serial('a fallback tells its targets in order, and why each of them', async (t) => {
  const { explanation } = await explain({
    strategy: { mode: 'fallback', on_status_codes: [429] },
    retry: { attempts: 2 },
    targets: [{ provider: '@a' }, { provider: '@ended' }, { provider: '@b', cb_config: { failure_threshold: 3 } }],
  })
  t.deepEqual(options(explanation), ['config.targets[0]', 'config.targets[1]', 'config.targets[2]'])
  t.regex(explanation.targets[1]?.reason ?? '', /fails with 429/)
  t.is(explanation.targets[1]?.error?.code, 'forbidden')
  t.deepEqual(
    explanation.targets.map(({ retries, breaker }) => [retries, breaker]),
    [
      [2, null],
      [2, null],
      [2, 'closed'],
    ],
  )
})

test.serial('guardrails that ask nobody are run, and those that would ask a service are named', async (t) => {
  const hook = { 'default.webhook': { webhookURL: `${emulator.url}/hook` }, deny: true, async: false } as const
  const config: GatewayConfig = {
    provider: '@a',
    input_guardrails: [{ 'default.regexReplace': { rule: 'secret', redactText: '#' }, async: false }, hook],
  }
  const { explanation, text } = await explain(config, { body: { messages: [{ role: 'user', content: 'a secret' }] } })
  const [target] = explanation.targets
  t.is(target?.error, null, text)
  t.deepEqual(target?.request?.body['messages'], [{ role: 'user', content: 'a #' }])
  t.like(target?.guardrails?.input[0], { verdict: true, transformed: true })
  t.like(target?.guardrails?.input[1], { verdict: null, checks: [{ id: 'default.webhook', calls_out: true }] })
  t.is(emulator.requests.length, 0)

  const denied = await explain({ provider: '@a', input_guardrails: ['words'] }, { body: { messages: [{ role: 'user', content: 'x' }] } })
  t.like(denied.explanation.targets[0], { request: null, error: { code: 'hooks_failed' } })
  t.like(denied.explanation.targets[0]?.guardrails?.input[0], {
    id: 'words',
    verdict: false,
    checks: [{ id: 'default.contains', calls_out: false }],
  })
})

test.serial('conditions tell their results, also within other strategies', async (t) => {
  const config: GatewayConfig = {
    strategy: { mode: 'fallback' },
    targets: [
      {
        strategy: {
          mode: 'conditional',
          conditions: [
            { query: { 'metadata.plan': 'free' }, then: 'one' },
            { query: { 'metadata.plan': { $eq: 'pro' } }, then: 'two' },
          ],
          default: 'one',
        },
        targets: [
          { name: 'one', provider: '@a' },
          { name: 'two', provider: '@b' },
        ],
      },
      { provider: '@a' },
    ],
  }
  const { explanation } = await explain(config, { headers: { 'x-service-metadata': '{"plan":"pro"}' } })
  t.deepEqual(
    explanation.conditions.map(({ result, target }) => [result, target]),
    [
      [false, 'config.targets[0].targets[0]'],
      [true, 'config.targets[0].targets[1]'],
    ],
  )
  t.deepEqual(options(explanation), ['config.targets[0].targets[1]', 'config.targets[1]'])
  t.regex(explanation.targets[0]?.reason ?? '', /conditions\[1\] is the first that is true/)
  const other = await explain(config)
  t.regex(other.explanation.targets[0]?.reason ?? '', /it is the default/)
})

test.serial('a balanced choice tells the weights', async (t) => {
  const { explanation } = await explain({
    strategy: { mode: 'loadbalance' },
    targets: [
      { provider: '@a', weight: 0 },
      { provider: '@b', weight: 1 },
    ],
  })
  t.deepEqual(options(explanation), ['config.targets[1]'])
  t.regex(explanation.targets[0]?.reason ?? '', /by weight \(0, 1\)/)
})

test.serial('it tells whether the cache has the answer', async (t) => {
  const config = { provider: '@a', cache: { mode: 'simple' } } as const
  const asked = {
    method: 'POST',
    headers: { 'x-service-api-key': readerKey, 'content-type': 'application/json', 'x-service-config': JSON.stringify(config) },
  }
  const body = { messages: [{ role: 'user', content: 'held' }] }
  await send(`${bed.origin}/v1/chat/completions`, { ...asked, body: JSON.stringify({ model: 'm', ...body }) })
  const { explanation } = await explain(config, { body })
  t.is(explanation.targets[0]?.cache?.status, 'HIT')
})

const refused: readonly (readonly [what: string, headers: Record<string, string>, status: number, message: RegExp])[] = [
  ['a key that may not read configs', { 'x-service-api-key': workspaceKey }, 403, /needs the scope configs\.read/],
  ['another word', { 'x-service-explain': 'perhaps' }, 400, /must be true or false/],
]

for (const [what, headers, status, message] of refused)
  test.serial(`refused: ${what}`, async (t) => {
    const before = emulator.requests.length
    const answer = await explain({ provider: '@a' }, { headers })
    t.is(answer.status, status)
    t.regex(answer.text, message)
    t.is(emulator.requests.length, before)
  })

test.serial('a body that is no JSON is explained too', async (t) => {
  const form = new FormData()
  form.set('model', 'whisper-1')
  form.set('file', new Blob([new Uint8Array(100_000)]), 'a.wav')
  const response = await fetch(`${bed.origin}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { 'x-service-api-key': readerKey, 'x-service-provider': '@a', 'x-service-explain': 'true' },
    body: form,
  })
  const { targets } = (await response.json()) as Explanation
  t.like(targets[0], { provider_slug: 'a', request: { url: `${emulator.url}/audio/transcriptions`, body: null }, error: null })
})

test.serial('an explanation is bounded, since it holds the body of each target', async (t) => {
  const tooLong = await explain({ provider: '@a' }, { body: { user: 'x'.repeat(128 * 1024) } })
  t.is(tooLong.status, 413)
  t.regex(tooLong.text, /x-service-explain takes a body of at most 131072 bytes/)
  const { explanation } = await explain(
    { provider: '@a', override_params: { seed: 'y'.repeat(10_000) } },
    { body: { user: 'x'.repeat(125_000) } },
  )
  t.deepEqual(explanation.targets[0]?.request, { ...explanation.targets[0]?.request, body: null } as never)
})
