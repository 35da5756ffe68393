import test from 'ava'
import type { GatewayConfig } from '../../../src/gateway/config/config.schema.ts'
import type { Reservation } from '../../../src/gateway/ports.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { type GatewayBed, type Logged, startGateway, workspaceKey } from '../../support/gateway.ts'
import { send } from '../../support/http.ts'

let main: Emulator
let mirror: Emulator
let bed: GatewayBed
const reserved: { readonly id: string; readonly billed: boolean | null }[] = []

test.before(async () => {
  main = await startEmulator()
  mirror = await startEmulator()
  bed = await startGateway({
    providers: { main: { customHost: main.url }, mirror: { customHost: mirror.url } },
    guardrails: {
      careful: { checks: [{ id: 'default.regexReplace', parameters: { rule: 'secret', redactText: '[hidden]' } }], actions: {} },
      strict: {
        checks: [{ id: 'default.regexMatch', parameters: { rule: 'plutonium', not: true } }],
        actions: { onFail: 'block', message: 'Not here.' },
      },
    },
    configs: {
      copied: { provider: '@main', mirror: { target: { provider: '@mirror' } } },
      free: { provider: '@main', mirror: { target: { provider: '@mirror' }, billed: false } },
    },
    ledger: {
      reserve({ call: { exchange, mirror: copied } }): Reservation {
        reserved.push({ id: exchange.requestId, billed: copied?.billed ?? null })
        return { maxOutput: null, standings: null, settle: () => null }
      },
    },
  })
})
test.after.always(async () => {
  await bed.stop()
  await main.stop()
  await mirror.stop()
})
test.beforeEach(() => {
  main.reset()
  mirror.reset()
})

interface Asked {
  readonly body?: object
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

const ask = (config: GatewayConfig | string, { body = {}, path = '/v1/chat/completions', headers = {} }: Asked = {}, origin = bed.origin) =>
  send(`${origin}${path}`, {
    method: 'POST',
    headers: {
      'x-service-api-key': workspaceKey,
      'content-type': 'application/json',
      'x-service-config': typeof config === 'string' ? config : JSON.stringify(config),
      ...headers,
    },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body }),
  })

const copies = (more: object = {}): GatewayConfig => ({ provider: '@main', mirror: { target: { provider: '@mirror' }, ...more } })
const copyOf = async (id: unknown): Promise<Logged> => {
  await eventually(() => bed.logged.some(({ record }) => record.mirrorOf === id), 10_000)
  const found = bed.logged.find(({ record }) => record.mirrorOf === id)
  if (found === undefined) throw new Error('no copy was logged')
  return found
}
const idOf = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) => headers['x-service-request-id']
const outcomes = () => bed.mirrored.length

test.serial('a mirror gets a copy, whose answer is only logged, under the request that it was copied from', async (t) => {
  mirror.script({ behaviour: { body: JSON.stringify({ said: 'by the mirror', usage: { prompt_tokens: 7, completion_tokens: 5 } }) } })
  const answer = await ask('copied')
  t.is(answer.status, 200)
  t.notRegex(answer.text, /by the mirror/)
  const { record, bodies } = await copyOf(idOf(answer))
  t.is(main.requests.length, 1)
  t.deepEqual(
    mirror.requests.map(({ json }) => json),
    [{ model: 'm', messages: [{ role: 'user', content: 'hi' }] }],
  )
  t.is(mirror.requests[0]?.headers.authorization, 'Bearer sk-stored-mirror')
  t.like(record, { providerSlug: 'mirror', status: 200, lastUsedOption: 'config.mirror.target', billed: true, outcome: 'complete' })
  t.is(record.usage?.inputTokens, 7)
  t.deepEqual(record.config, { slug: 'copied', version: 1 })
  t.regex(String(bodies.response), /by the mirror/)
  const own = bed.logged.find((one) => one.record.id === idOf(answer))?.record
  t.like(own, { mirrorOf: null, billed: true, providerSlug: 'main' })
  t.is(own?.traceId, record.traceId)
  t.is(bed.observed.length, 1, 'a copy is no request of a client')
})

test.serial('a copy takes a reservation as its request does, and says when it counts for its provider alone', async (t) => {
  for (const [config, billed] of [
    [copies(), true],
    [copies({ billed: true }), true],
    ['free', false],
  ] as const) {
    const { record } = await copyOf(idOf(await ask(config)))
    t.is(record.billed, billed)
    t.deepEqual(
      reserved.slice(-2).map(({ billed: counts }) => counts),
      [null, billed],
    )
    t.is(reserved.at(-1)?.id, record.id)
  }
})

test.serial('a config of a request leaves no copy out of budgets, wherever its mirror stands', async (t) => {
  const free = copies({ billed: false })
  const within = { strategy: { mode: 'fallback' as const }, targets: [{ provider: '@main' }, free] }
  const deep = { strategy: { mode: 'single' as const }, targets: [within] }
  for (const [config, param] of [
    [free, 'config.mirror.billed'],
    [within, 'config.targets[1].mirror.billed'],
    [deep, 'config.targets[0].targets[1].mirror.billed'],
  ] as const) {
    const { status, text } = await ask(config)
    t.is(status, 400, text)
    t.is((JSON.parse(text) as { error: { param: string } }).error.param, param)
  }
  t.is(main.requests.length + mirror.requests.length, 0)
})

test.serial('it is what the config and the guardrails of the caller left, with what the mirror changes', async (t) => {
  const config: GatewayConfig = {
    ...copies({ target: { provider: '@mirror', override_params: { model: 'new' }, drop_params: ['user'] } }),
    input_guardrails: ['careful'],
    override_params: { temperature: 0 },
    output_guardrails: ['strict'],
  }
  const answer = await ask(config, { body: { messages: [{ role: 'user', content: 'a secret' }], user: 'u' } })
  await copyOf(idOf(answer))
  t.deepEqual(mirror.requests[0]?.json, { model: 'new', messages: [{ role: 'user', content: 'a [hidden]' }], temperature: 0 })
})

test.serial('a request that a guardrail denies, that was answered before, or that a share leaves out is not copied', async (t) => {
  const denied = await ask({ ...copies(), input_guardrails: ['strict'] }, { body: { messages: [{ role: 'user', content: 'plutonium' }] } })
  t.is(denied.status, 446)
  t.is((await ask(copies({ share: 0 }))).status, 200)
  const cached: GatewayConfig = { ...copies(), cache: { mode: 'simple' } }
  const first = await ask(cached, { body: { user: 'cached' } })
  await copyOf(idOf(first))
  const again = await ask(cached, { body: { user: 'cached' } })
  t.is(again.headers['x-service-cache-status'], 'HIT')
  await ask(copies(), { path: '/v1/assistants' })
  const last = await ask(copies())
  await copyOf(idOf(last))
  t.is(mirror.requests.length, 2)
})

test.serial('nothing that is the caller’s for its own target goes to a mirror elsewhere', async (t) => {
  const headers = {
    authorization: 'Bearer sk-callers-own',
    'x-service-custom-host': main.url,
    'x-service-forward-headers': 'authorization',
    'x-secret-token': 'canary',
    'idempotency-key': 'once',
    'x-trace': 'kept',
  }
  const answer = await ask({ provider: 'openai', mirror: { target: { provider: '@mirror' } } }, { headers: { ...headers } })
  t.is(answer.status, 200)
  t.is(main.requests[0]?.headers.authorization, 'Bearer sk-callers-own')
  await copyOf(idOf(answer))
  const sent = mirror.requests[0]?.headers ?? {}
  t.is(sent.authorization, 'Bearer sk-stored-mirror')
  t.is(sent['x-trace'], 'kept')
  for (const name of ['x-secret-token', 'idempotency-key']) t.false(name in sent, name)
})

test.serial('a mirror that fails, hangs or is gone changes nothing for the caller', async (t) => {
  const before = outcomes()
  mirror.script({ behaviour: { status: 500 } })
  const failed = await ask(copies())
  t.is(failed.status, 200)
  t.is((await copyOf(idOf(failed))).record.status, 500)
  const unknown = await ask(copies({ target: { provider: '@nobody' } }))
  t.is(unknown.status, 200)
  t.is((await copyOf(idOf(unknown))).record.errorCode, 'unknown_provider')
  t.is(unknown.headers['x-service-retry-attempt-count'], '0')
  await eventually(() => outcomes() === before + 2, 5000)
  t.deepEqual(bed.mirrored.slice(before), ['failed', 'failed'])
  mirror.script({ behaviour: { hang: 'before-headers' } })
  const hanging = await ask(copies({ target: { provider: '@mirror', request_timeout: 300 } }))
  t.is(hanging.status, 200)
  t.is((await copyOf(idOf(hanging))).record.errorCode, 'upstream_timeout')
})

test.serial('a stream is copied too, and the first target of several that is asked decides', async (t) => {
  main.script({ behaviour: { status: 503 }, times: 1 })
  const config: GatewayConfig = {
    strategy: { mode: 'fallback' },
    targets: [{ provider: '@main' }, { provider: '@main', override_params: { user: 'second' } }],
    mirror: { target: { provider: '@mirror' } },
  }
  const answer = await ask(config, { body: { stream: true } })
  t.is(answer.status, 200)
  const { record } = await copyOf(idOf(answer))
  t.true(record.stream)
  t.is(record.lastUsedOption, 'config.targets[0].mirror.target')
  t.is(mirror.requests.length, 1)
})

test.serial('more copies than there is room for are left out and counted; so are long ones', async (t) => {
  const before = outcomes()
  mirror.script({ behaviour: { hang: 'before-headers' } })
  const waiting = { target: { provider: '@mirror', request_timeout: 2000 } }
  // A process of the test bed has room for 8, an organisation for 2.
  for (let at = 0; at < 4; at += 1) t.is((await ask(copies(waiting))).status, 200)
  t.deepEqual(bed.mirrored.slice(before), ['busy', 'busy'])
  await eventually(() => outcomes() === before + 4, 10_000)
  t.is((await ask(copies(), { body: { user: 'x'.repeat(1024 * 1024) } })).status, 200)
  t.deepEqual(bed.mirrored.slice(before + 4), ['too_large'])
})

test.serial('copies drain with the process, and none begins any more', async (t) => {
  const own = await startGateway({ providers: { main: { customHost: main.url }, mirror: { customHost: mirror.url } } })
  const arrived = mirror.next()
  mirror.script({ behaviour: { hang: 'before-headers' } })
  const answer = await ask(copies(), {}, own.origin)
  await arrived
  t.is(own.gateway.inflight(), 1)
  t.is(await own.gateway.drain(1), 1)
  t.is(own.logged.find(({ record }) => record.mirrorOf === idOf(answer))?.record.errorCode, 'draining')
  t.is((await ask(copies(), {}, own.origin)).status, 200)
  t.deepEqual(own.mirrored.at(-1), 'draining')
  await own.stop()
})

for (const [what, target, param] of [
  ['a strategy of its own', { provider: '@a', retry: { attempts: 1 } }, /mirror\.target\.retry/],
  ['another mirror', { provider: '@a', mirror: { target: { provider: '@b' } } }, /mirror\.target\.mirror/],
  ['a host to which the key of the caller would go', { provider: 'groq' }, /credential of the caller/],
] as const)
  test.serial(`the target of a mirror is refused with ${what}`, async (t) => {
    const answer = await ask({ provider: '@main', mirror: { target } })
    t.is(answer.status, 400)
    t.regex(answer.text, param)
  })

test.serial('an explanation shows the copy', async (t) => {
  const own = await startGateway({
    providers: { main: { customHost: main.url }, mirror: { customHost: mirror.url } },
    keys: { [workspaceKey]: { scopes: new Set(['completions.write', 'configs.read']) } },
  })
  const config = copies({ share: 0.1, target: { provider: '@mirror', override_params: { model: 'new' } } })
  const { text } = await ask(config, { headers: { 'x-service-explain': 'true' } }, own.origin)
  const { targets } = JSON.parse(text) as { targets: { mirror: object }[] }
  t.like(targets[0]?.mirror, {
    share: 0.1,
    billed: true,
    provider_slug: 'mirror',
    option: 'config.mirror.target',
    request: { body: { model: 'new' } },
    error: null,
  })
  t.is(main.requests.length + mirror.requests.length, 0)
  await own.stop()
})
