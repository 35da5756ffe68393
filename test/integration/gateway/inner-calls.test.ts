import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { openAccessLog } from '../../../src/app/logging/access-log.ts'
import { createLoggers } from '../../../src/app/logging/log.ts'
import type { InnerAnswer, InnerRequest } from '../../../src/gateway/exchange/inner-exchange.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import type { Behaviour } from '../../support/emulator/behaviour.ts'
import { eventually } from '../../support/eventually.ts'
import { type GatewayBed, keyView, startGateway, workspaceKey } from '../../support/gateway.ts'
import { send } from '../../support/http.ts'
import { LineCollector } from '../../support/log-lines.ts'

let emulator: Emulator
let bed: GatewayBed
/** A key whose every request goes by a config and guardrails. */
const bound = 'gh-test-key-that-is-bound-000000000'
const defaults = { config: 'asked', configLocked: true, inputGuardrails: ['asked'], outputGuardrails: ['answered'] }

const forbids = (rule: string) => ({
  checks: [{ id: 'default.regexMatch', parameters: { rule, not: true } }],
  actions: { onFail: 'block', message: 'Not here.' } as const,
})

test.before(async () => {
  emulator = await startEmulator()
  bed = await startGateway({
    providers: { mine: { customHost: emulator.url } },
    keys: { [bound]: { defaults } },
    guardrails: { asked: forbids('plutonium'), answered: forbids('emulator') },
    configs: {
      asked: { input_guardrails: ['asked'] },
      answered: { output_guardrails: ['answered'] },
    },
  })
})
test.after.always(async () => {
  await bed.stop()
  await emulator.stop()
})

type Headers = Readonly<Record<string, string>>
const auth = { 'x-service-api-key': workspaceKey, 'x-service-provider': '@mine' }
const emulate = (behaviour: Behaviour): Headers => ({ 'x-emulate': JSON.stringify(behaviour) })
const flat = (headers: Headers): readonly string[] => Object.entries(headers).flat()
const chat = (content: string, more: object = {}): Buffer =>
  Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], ...more }))

const perform = (headers: Headers, given: Partial<InnerRequest> = {}): Promise<InnerAnswer> =>
  bed.gateway.perform({
    method: 'POST',
    url: '/v1/chat/completions',
    headers: flat({ ...auth, 'content-type': 'application/json', ...headers }),
    body: chat('hi'),
    clientAddress: '203.0.113.9',
    ...given,
  })

const header = ({ headers }: InnerAnswer, name: string) => headers[headers.findIndex((part) => part.toLowerCase() === name) + 1]
const logOf = ({ requestId }: InnerAnswer) => bed.logged.find(({ record }) => record.id === requestId)

test('a call from within is answered, authorized and logged as one that came over HTTP', async (t) => {
  const asked = emulator.next('/chat/completions')
  const answer = await perform({})
  const inner = await text(answer.body)
  const outer = await send(`${bed.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...auth, 'content-type': 'application/json' },
    body: chat('hi'),
  })
  t.is(answer.status, 200)
  t.deepEqual(Object.keys(JSON.parse(inner) as object), Object.keys(JSON.parse(outer.text) as object))
  t.is((await asked).headers.authorization, 'Bearer sk-stored-mine')
  t.is(header(answer, 'x-service-request-id'), answer.requestId)
  t.is(header(answer, 'x-service-provider'), 'openai')

  const own = logOf(answer)?.record
  const other = bed.logged.find(({ record }) => record.id === outer.headers['x-service-request-id'])?.record
  t.is(own?.clientAddress, '203.0.113.9')
  t.is(own?.outcome, 'complete')
  const facts = (record: typeof own) => [record?.operation, record?.method, record?.path, record?.status, record?.model, record?.apiKeyId]
  t.deepEqual(facts(own), facts(other))
  t.deepEqual(own?.usage, other?.usage)
  t.true((own?.usage?.inputTokens ?? 0) > 0)
})

test('a call from within needs a key', async (t) => {
  const answer = await perform({ 'x-service-api-key': 'gh-no-such-key' })
  t.is(answer.status, 401)
  t.regex(await text(answer.body), /invalid_api_key|API key/)
})

test('an answer to HEAD has its length and no body', async (t) => {
  const models = { headers: flat({ 'x-service-api-key': workspaceKey }), url: '/v1/models', body: Buffer.alloc(0) }
  const answer = await perform({}, { ...models, method: 'HEAD' })
  t.is(answer.status, 200)
  t.is(header(answer, 'content-length'), String((await text((await perform({}, { ...models, method: 'GET' })).body)).length))
  t.is(await text(answer.body), '')
})

test('guardrails judge what a call from within asks, and what it is told', async (t) => {
  const asked = await perform({ 'x-service-config': 'asked' }, { body: chat('how to enrich plutonium') })
  t.is(asked.status, 446)
  t.regex(await text(asked.body), /Not here\./)
  t.is(logOf(asked)?.record.errorCode, 'hooks_failed')

  for (const stream of [false, true]) {
    const answered = await perform({ 'x-service-config': 'answered' }, { body: chat('hi', { stream }) })
    t.is(answered.status, 446, `stream: ${stream}`)
    t.regex(await text(answered.body), /Not here\./)
  }
})

test('a stream comes as it is made, and its log is there before its end', async (t) => {
  const answer = await perform(emulate({ frames: 4, frameEveryMs: 20 }), { body: chat('hi', { stream: true }) })
  const chunks: string[] = []
  for await (const chunk of answer.body) chunks.push(String(chunk))
  t.true(chunks.length >= 4, `${chunks.length} chunks`)
  t.true(chunks.join('').endsWith('data: [DONE]\n\n'))
  t.true(logOf(answer)?.record.stream)
})

test('an answer that is not read stops the provider; one that is let go ends the call', async (t) => {
  const arrived = emulator.next('/big')
  const answer = await perform(emulate({ size: 200_000_000 }), { method: 'GET', url: '/v1/big', body: Buffer.alloc(0) })
  const received = await arrived
  let before = -1
  await eventually(() => before === (before = received.sent), 5000, 'the provider to stop')
  t.true(received.sent < 50_000_000, `${received.sent} bytes were read from the provider`)

  let read = 0
  for await (const chunk of answer.body) {
    read += (chunk as Buffer).length
    if (read > 60_000_000) break
  }
  t.true(received.sent > 60_000_000, 'it goes on when the answer is read')
  t.false((await received.closed).complete)
  await eventually(() => logOf(answer) !== undefined, 2000)
  t.is(logOf(answer)?.record.outcome, 'client_closed')
})

test('a call that is stopped before its answer begins rejects, and frees the provider', async (t) => {
  const stop = new AbortController()
  const arrived = emulator.next('/slow')
  const call = perform(emulate({ hang: 'before-headers' }), { url: '/v1/slow', signal: stop.signal })
  const received = await arrived
  stop.abort()
  await t.throwsAsync(call, { code: 'client_closed' })
  t.false((await received.closed).complete)
  await eventually(() => bed.logged.some(({ record }) => record.path === '/slow' && record.outcome === 'client_closed'), 2000)
})

test('a call whose signal has fallen already never goes out', async (t) => {
  const call = perform({}, { url: '/v1/never', signal: AbortSignal.abort() })
  await t.throwsAsync(call, { code: 'client_closed' })
  await eventually(() => bed.logged.some(({ record }) => record.path === '/never'), 2000)
  t.false(emulator.requests.some(({ url }) => url.includes('/never')))
})

test('an upload goes through as it comes; one that breaks off ends the call', async (t) => {
  const parts = [Buffer.alloc(300_000, 'a'), Buffer.alloc(300_000, 'b')]
  const asked = emulator.next('/upload')
  const type = { 'content-type': 'application/octet-stream' }
  const answer = await perform(type, { url: '/v1/upload', body: Readable.from(parts) })
  await text(answer.body)
  t.true((await asked).body.equals(Buffer.concat(parts)))

  async function* broken() {
    yield parts[0]
    await Promise.resolve()
    throw new Error('the disk is gone')
  }
  await t.throwsAsync(perform(type, { url: '/v1/broken', body: Readable.from(broken()) }).then(({ body }) => text(body)))
})

test('an answer that breaks off fails its reader; trailers come after the body', async (t) => {
  const cut = await perform(emulate({ size: 100_000, cutAt: 20_000 }), { url: '/v1/cut' })
  await t.throwsAsync(text(cut.body))
  const whole = await perform(emulate({ chunked: true, trailers: { 'x-checksum': 'abc123' } }))
  t.deepEqual(whole.trailers(), [])
  await text(whole.body)
  t.deepEqual(whole.trailers(), [['x-checksum', 'abc123']])
})

test('a drain ends calls from within too', async (t) => {
  const own = await startGateway({ providers: { mine: { customHost: emulator.url } } })
  const answer = await own.gateway.perform({
    method: 'POST',
    url: '/v1/chat/completions',
    headers: flat({ ...auth, 'content-type': 'application/json', ...emulate({ frames: 600, frameEveryMs: 10 }) }),
    body: chat('hi', { stream: true }),
    clientAddress: '',
  })
  t.is(own.gateway.inflight(), 1)
  t.is(await own.gateway.drain(1), 1)
  t.regex(await text(answer.body), /shutting down/)
  t.is(own.gateway.inflight(), 0)
  await own.stop()
})

test('the access log has a line of every call from within, refused ones too', async (t) => {
  const lines = new LineCollector()
  const log = openAccessLog(createLoggers({ logLevel: 'info', logFile: null, version: '1.2.3' }, lines))
  const own = await startGateway({ taken: (exchange) => log.taken(exchange) })
  const answer = await own.gateway.perform({ method: 'GET', url: '/v1/models', headers: [], clientAddress: '203.0.113.9' })
  await text(answer.body)
  t.is(answer.status, 401)
  await eventually(() => lines.parsed.length > 0, 2000)
  const [line] = lines.parsed
  t.like(line, { request_id: answer.requestId, method: 'GET', status: 401, client_ip: '203.0.113.9' })
  await own.stop()
})

test('for a caller that was identified before, config and guardrails of the key do not count again', async (t) => {
  const headers = { 'x-service-api-key': bound, 'content-type': 'application/json', 'x-service-provider': '@mine' }
  const refused = await send(`${bed.origin}/v1/chat/completions`, { method: 'POST', headers, body: chat('plutonium') })
  t.is(refused.status, 446, refused.text)
  const caller = { key: { ...keyView, defaults }, holdsOwnKey: () => false }
  const answer = await perform({ 'x-service-api-key': 'known to nobody' }, { caller, body: chat('plutonium') })
  await text(answer.body)
  t.deepEqual([answer.status, logOf(answer)?.record.apiKeyId], [200, keyView.id])
})
