import { createServer, type IncomingHttpHeaders } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import type { ClientConfig } from 'pg'
import { connect } from '../../../src/app/database/connect.ts'
import { packReceiver } from '../../../src/app/journal/open-exporter.ts'
import { startShipper } from '../../../src/app/journal/shipper.ts'
import { loadConfig } from '../../../src/config/index.ts'
import { openJournal } from '../../../src/gateway/journal/journal.ts'
import { silent, testDatabase, type TestDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { exchangeBodies, exchangeRecord, temporaryDirectory } from '../../support/journal.ts'

let database: TestDatabase
let client: ClientConfig

test.before(async () => {
  database = await testDatabase()
  client = (await connect(database.config, silent)).runtime
})
test.after.always(() => database.drop())

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
  readonly status: { readonly code: number }
}

interface Call {
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly spans: readonly Span[]
  readonly text: string
}

/** A receiver that answers by its script, then 200; a status of 0 never answers. */
async function startReceiver(statuses: number[] = []) {
  const calls: Call[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const body = JSON.parse(text) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }
      const spans = body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
      calls.push({ path: request.url, headers: request.headers, spans, text })
      const status = statuses.shift() ?? 200
      if (status !== 0) response.writeHead(status, { 'retry-after': '0' }).end('{}')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { calls, close, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function start(env: Readonly<Record<string, string>>) {
  const directory = temporaryDirectory()
  const config = loadConfig({
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    DB_HOST: 'x',
    DB_PASS: 'x',
    ...env,
  })
  const journal = openJournal({ directory: directory.path, maxBodyBytes: 1 << 20, maxSpoolBytes: 1 << 26 })
  const shipper = startShipper({ directory: directory.path, database: database.config, client, log: silent, spans: packReceiver(config) })
  const stop = async () => {
    await journal.close()
    await shipper.stop()
    directory.remove()
  }
  return { journal, shipper, stop }
}

const attempt = (index: number, more: object = {}) =>
  ({
    option: `config.targets[${index}]`,
    provider: 'azure-openai',
    providerSlug: 'mine',
    model: 'gpt-4o',
    status: 200,
    failure: null,
    error: 'a canary of the provider',
    startMs: index * 10,
    durationMs: 5.5,
    responseBytes: 9,
    ...more,
  }) as const

const textsOf = ({ attributes }: Span) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])) as Readonly<Record<string, unknown>>

test.serial('a request is a span with one below it for each attempt, and no words of it leave', async (t) => {
  const receiver = await startReceiver()
  const { journal, stop, shipper } = start({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a%20b,other = c',
    OTEL_SERVICE_NAME: 'my-gateway',
  })
  const record = exchangeRecord({
    operation: 'chatComplete',
    traceId: '0af7651916cd43dd8448eb211c80319c',
    parentSpanId: 'b7ad6b7169203331',
    attempts: [attempt(0, { status: 429, failure: 'rate_limit' }), attempt(1), attempt(2, { startMs: null, durationMs: null })],
  })
  journal.append(record, exchangeBodies('a canary of a prompt', 'a canary of an answer'))
  await eventually(async () => receiver.calls.length === 1, 20_000, 'the spans')
  const [{ path, headers, spans, text } = { path: '', headers: {}, spans: [], text: '' }] = receiver.calls
  t.is(path, '/v1/traces')
  t.like(headers, { 'x-tenant': 'a b', other: 'c', 'content-type': 'application/json' })
  t.true(text.includes('my-gateway'))
  t.false(text.includes('canary'))
  t.is(spans.length, 3)
  const [server, first, second] = spans as [Span, Span, Span]
  t.like(server, { traceId: record.traceId, parentSpanId: 'b7ad6b7169203331', kind: 2 })
  t.regex(server.spanId, /^[0-9a-f]{16}$/)
  t.like(textsOf(server), { 'gatehouse.log.id': record.id, 'http.response.status_code': String(record.status) })
  t.like(first, { parentSpanId: server.spanId, kind: 3, status: { code: 2 }, name: 'chat gpt-4o' })
  t.like(textsOf(first), {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'azure.ai.openai',
    'gen_ai.request.model': 'gpt-4o',
    'error.type': 'rate_limit',
    'gatehouse.target': 'config.targets[0]',
  })
  t.like(second, { parentSpanId: server.spanId, status: { code: 0 } })
  t.is(BigInt(second.endTimeUnixNano) - BigInt(second.startTimeUnixNano), 5_500_000n)
  t.is(new Set(spans.map(({ spanId }) => spanId)).size, 3)
  await eventually(async () => shipper.stats().spans.exported === 3, 20_000, 'the count')
  await stop()
  receiver.close()
})

test.serial('what a receiver cannot take now comes again; what it refuses is dropped and counted', async (t) => {
  const receiver = await startReceiver([503, 429, 200, 400])
  const { journal, stop, shipper } = start({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/own/path` })
  const append = () => journal.append(exchangeRecord({ upstreamMs: null, upstreamUrl: null, attempts: null }), exchangeBodies(null, null))
  append()
  await eventually(async () => shipper.stats().spans.exported === 1, 20_000, 'the third try')
  t.deepEqual(
    receiver.calls.map(({ path, spans }) => [path, spans.length]),
    Array.from({ length: 3 }, () => ['/own/path', 1]),
  )
  append()
  await eventually(async () => shipper.stats().spans.dropped === 1, 20_000, 'the refusal')
  t.is(receiver.calls.length, 4)
  await stop()
  receiver.close()
})

test.serial('a receiver that never answers holds up no log, and what waits for it is bounded', async (t) => {
  const receiver = await startReceiver([0])
  const { journal, stop, shipper } = start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_TIMEOUT: '60000' })
  const count = 8800
  for (let made = 0; made < count; made += 1)
    journal.append(exchangeRecord({ upstreamMs: null, upstreamUrl: null, attempts: null }), exchangeBodies(null, null))
  await shipper.flushed()
  t.is(shipper.stats().shipped, count)
  await eventually(async () => shipper.stats().spans.dropped > 0, 20_000, 'what is too much')
  await stop()
  receiver.close()
})

test.serial('the egress guard stands before the receiver', async (t) => {
  const receiver = await startReceiver()
  const { journal, stop, shipper } = start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, TRUSTED_CUSTOM_HOSTS: 'elsewhere.example' })
  journal.append(exchangeRecord({ upstreamMs: null, upstreamUrl: null, attempts: null }), exchangeBodies(null, null))
  await shipper.flushed()
  await stop()
  t.is(receiver.calls.length, 0)
  receiver.close()
})

test('without a receiver nothing is exported', (t) => {
  t.is(packReceiver(loadConfig({ ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'), DB_HOST: 'x', DB_PASS: 'x' })), null)
})
