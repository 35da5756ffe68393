import test from 'ava'
import { readMessage } from '../../../src/lib/otlp/protobuf.ts'
import { traceRequest } from '../../../src/lib/otlp/messages.ts'
import { eventually } from '../../support/eventually.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
let rival: Tenant

test.before(async () => {
  control = await startControl({}, { LOG_SEALING: 'on' })
  acme = await control.createTenant('acme')
  rival = await control.createTenant('rival')
})
test.after.always(() => control.close())

const now = Date.now()
const nanos = (ms: number) => `${now + ms}000000`
const traceOf = (letter: string) => letter.repeat(32)
const idOf = (digit: string) => digit.repeat(16)
const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })

interface Given {
  readonly trace?: string
  readonly id: string
  readonly parent?: string
  readonly at?: number
  readonly more?: object
}

const span = ({ trace = traceOf('a'), id, parent = '', at = 0, more = {} }: Given) => ({
  traceId: trace,
  spanId: id,
  parentSpanId: parent,
  name: `span ${id[0]}`,
  kind: 3,
  startTimeUnixNano: nanos(at),
  endTimeUnixNano: nanos(at + 100),
  attributes: [text('step', id)],
  ...more,
})
const request = (spans: readonly object[]) => ({
  resourceSpans: [{ resource: { attributes: [text('service.name', 'agent')] }, scopeSpans: [{ scope: { name: 'lib' }, spans }] }],
})
const send = (body: object, key = acme.workspaceKey, path = '/otel/v1/traces') => control.call(key, 'POST', path, body)
const read = async (trace: string, key = acme.workspaceKey) => control.call(key, 'GET', `/traces/${trace}`)
const spansOf = async (trace: string) => (await read(trace)).body['spans'] as Record<string, unknown>[]

const insertLog = (metadata: object) =>
  control.call(acme.workspaceKey, 'POST', '/logs', {
    request: { url: 'https://api.example/v1/chat/completions', body: { model: 'm-1' } },
    response: { status: 200, body: {}, response_time: 40 },
    metadata,
  })

test('spans of a client and requests of the gateway are one tree', async (t) => {
  const { status, body } = await send(request([span({ id: idOf('1'), at: -1000 }), span({ id: idOf('2'), parent: idOf('1'), at: -900 })]))
  t.is(status, 200)
  t.deepEqual(body, {})
  await insertLog({ trace_id: traceOf('a'), parent_span_id: idOf('2'), span_name: 'ask' })
  await eventually(async () => (await spansOf(traceOf('a'))).length === 3, 20_000, 'the log of the trace')
  const spans = await spansOf(traceOf('a'))
  t.deepEqual(
    spans.map(({ source, name, depth, parent_received }) => [source, name, depth, parent_received]),
    [
      ['client', 'span 1', 0, true],
      ['client', 'span 2', 1, true],
      ['request', 'ask', 2, true],
    ],
  )
  t.like(spans[0], { service: 'agent', kind: 'client', duration_ms: 100, aggregate: { requests: 1, errors: 0 } })
  t.like(spans[1], { details: { attributes: { step: idOf('2') }, resource: { 'service.name': 'agent' }, scope: 'lib' } })
  const { body: list } = await control.call(acme.workspaceKey, 'GET', '/traces')
  const found = (list['data'] as Record<string, unknown>[]).find(({ trace_id }) => trace_id === traceOf('a'))
  t.like(found, { name: 'span 1', requests: 1, client_spans: 2, services: ['agent'], models: ['m-1'] })
})

test('what is sent again is stored once, by whatever address', async (t) => {
  const one = request([span({ trace: traceOf('b'), id: idOf('1') })])
  for (const path of ['/otel/v1/traces', '/logs/otel', '/logs/otel/v1/traces']) t.is((await send(one, acme.workspaceKey, path)).status, 200)
  t.is((await spansOf(traceOf('b'))).length, 1)
})

test('another tenant and another workspace neither read nor join a trace', async (t) => {
  await send(request([span({ trace: traceOf('c'), id: idOf('1') })]))
  await send(request([span({ trace: traceOf('c'), id: idOf('2') })]), rival.workspaceKey)
  t.is((await spansOf(traceOf('c'))).length, 1)
  t.is((await read(traceOf('c'), acme.sideKey)).status, 404)
  const { body } = await control.call(acme.sideKey, 'GET', '/traces')
  t.deepEqual(body['data'], [])
  const onlyList = await control.createKey(acme, { workspaceId: acme.workspaceId, scopes: ['logs.list'] })
  t.is((await read(traceOf('c'), onlyList)).status, 403)
  t.is((await send(request([]), onlyList)).status, 403)
})

test('spans that are not valid are told, and the others taken', async (t) => {
  const { status, body } = await send(
    request([
      span({ trace: traceOf('d'), id: idOf('1') }),
      span({ trace: traceOf('0'), id: idOf('1') }),
      span({ trace: traceOf('d'), id: 'xyz' }),
      span({ trace: traceOf('d'), id: idOf('3'), more: { endTimeUnixNano: nanos(-1) } }),
    ]),
  )
  t.is(status, 200)
  t.like(body, { partialSuccess: { rejectedSpans: '3' } })
  t.regex((body['partialSuccess'] as { errorMessage: string }).errorMessage, /^3 spans are not valid\. The first: traceId must be 32/)
  t.is((await spansOf(traceOf('d'))).length, 1)
  t.is((await send({ resourceSpans: 'no' })).status, 400)
  t.is((await send(request(Array.from({ length: 10_001 }, () => ({})))).catch(() => ({ status: 0 }))).status, 400)
})

test('what attributes hold is bounded, without credentials, and sealed in the database', async (t) => {
  const attributes = [
    text('http.request.header.authorization', 'Bearer sk-never-shown'),
    text('long', 'x'.repeat(50_000)),
    { key: 'list', value: { arrayValue: { values: [{ intValue: '7' }, { doubleValue: 0.5 }, { boolValue: true }] } } },
    { key: '__proto', value: { kvlistValue: { values: [text('a', 'canary-of-a-prompt')] } } },
    ...Array.from({ length: 200 }, (_, index) => text(`n${index}`, 'v')),
  ]
  await send(request([span({ trace: traceOf('e'), id: idOf('1'), more: { attributes } })]))
  const [{ details } = {}] = await spansOf(traceOf('e'))
  const { attributes: kept, dropped } = details as { attributes: Record<string, unknown>; dropped: number }
  t.is(kept['http.request.header.authorization'], '[removed]')
  t.is((kept['long'] as string).length, 32_768)
  t.deepEqual(kept['list'], [7, 0.5, true])
  t.deepEqual(kept['__proto'], { a: 'canary-of-a-prompt' })
  t.is(dropped, 76)
  const { rows } = await control.sql.query('SELECT details FROM trace_spans WHERE trace_id = $1', [traceOf('e')])
  t.false((rows[0] as { details: Buffer }).details.includes('canary-of-a-prompt'))
})

test('circles and parents that are not there leave a tree', async (t) => {
  const trace = traceOf('f')
  await send(
    request([
      span({ trace, id: idOf('1'), parent: idOf('2'), at: 1 }),
      span({ trace, id: idOf('2'), parent: idOf('1'), at: 2 }),
      span({ trace, id: idOf('3'), parent: idOf('9'), at: 3, more: { status: { code: 2, message: 'broke' } } }),
    ]),
  )
  t.deepEqual(
    (await spansOf(trace)).map(({ span_id, depth, parent_received, status }) => [(span_id as string)[0], depth, parent_received, status]),
    [
      ['3', 0, false, 'error'],
      ['1', 0, false, 'unset'],
      ['2', 1, true, 'unset'],
    ],
  )
})

test('tokens of a client count where no request below has any', async (t) => {
  const trace = '9'.repeat(32)
  const counted = { attributes: [text('gen_ai.request.model', 'm'), { key: 'gen_ai.usage.input_tokens', value: { intValue: 5 } }] }
  await send(
    request([
      span({ trace, id: idOf('1'), more: counted }),
      span({ trace, id: idOf('2'), parent: idOf('1'), at: 1, more: counted }),
      span({ trace, id: idOf('3'), parent: idOf('1'), at: 2, more: counted }),
    ]),
  )
  t.deepEqual(
    (await spansOf(trace)).map(({ aggregate }) => (aggregate as { total_units: number }).total_units),
    [10, 5, 5],
  )
})

/** One field of protobuf. */
const field = (number: number, value: Uint8Array | string): Buffer => {
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.of((number << 3) | 2, (bytes.length & 0x7f) | 0x80, bytes.length >> 7), bytes])
}
const fixed = (number: number, value: bigint): Buffer => {
  const bytes = Buffer.alloc(9, (number << 3) | 1)
  bytes.writeBigUInt64LE(value, 1)
  return bytes
}
const protobufSpan = (trace: string, id: string) =>
  Buffer.concat([
    field(1, Buffer.from(trace, 'hex')),
    field(2, Buffer.from(id, 'hex')),
    field(5, 'bytes'),
    Buffer.of((6 << 3) | 0, 2),
    fixed(7, BigInt(nanos(0))),
    fixed(8, BigInt(nanos(7))),
    field(9, Buffer.concat([field(1, 'gen_ai.usage.output_tokens'), field(2, Buffer.of((3 << 3) | 0, 12))])),
    field(15, Buffer.of((3 << 3) | 0, 2)),
  ])
const protobuf = (...spans: Buffer[]) => field(1, Buffer.concat([field(1, ''), field(2, Buffer.concat(spans.map((one) => field(2, one))))]))

async function sendBytes(bytes: Uint8Array) {
  const headers = { 'x-service-api-key': acme.workspaceKey, 'content-type': 'application/x-protobuf' }
  const answer = await fetch(`${control.origin}/v1/otel/v1/traces`, { method: 'POST', headers, body: bytes })
  return { status: answer.status, type: answer.headers.get('content-type'), bytes: Buffer.from(await answer.arrayBuffer()) }
}

test('protobuf is read as JSON is, and answered as protobuf', async (t) => {
  const trace = '8'.repeat(32)
  const taken = await sendBytes(protobuf(protobufSpan(trace, idOf('1'))))
  t.like(taken, { status: 200, type: 'application/x-protobuf' })
  t.is(taken.bytes.length, 0)
  t.like((await spansOf(trace))[0], { name: 'bytes', kind: 'server', status: 'error', duration_ms: 7, res_units: 12 })
  const partly = await sendBytes(protobuf(protobufSpan('00', idOf('1'))))
  t.like(readMessage(partly.bytes, { 1: { name: 'partial', type: () => ({ 1: { name: 'rejected', type: 'signed' } }) } }), {
    partial: { rejected: '1' },
  })
})

test('bytes that are no message are refused with a reason', async (t) => {
  const good = protobuf(protobufSpan('8'.repeat(32), idOf('2')))
  for (const bad of [good.subarray(0, -3), Buffer.of(0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f), Buffer.of(0x08, 0x01), Buffer.alloc(40, 0xff)]) {
    const { status, bytes } = await sendBytes(bad)
    t.is(status, 400)
    t.regex(bytes.toString(), /no ExportTraceServiceRequest/)
  }
  t.notThrows(() => readMessage(Buffer.concat([Buffer.of(0x78, 0x01), good]), traceRequest))
})

const trace = (index: number) => index.toString(16).padStart(32, 'e')

test('each trace is in one page, whatever is in it', async (t) => {
  const tenant = await control.createTenant('paged')
  const spans = Array.from({ length: 12 }, (_, index) =>
    [0, 5, 9].map((part) =>
      span({ trace: trace(index % 6), id: (100 + index * 10 + part).toString(16).padStart(16, '0'), at: index * 10 }),
    ),
  )
  await send(request(spans.flat()), tenant.workspaceKey)
  const seen: unknown[] = []
  let after = ''
  for (let more = true; more;) {
    const { body } = await control.call(tenant.workspaceKey, 'GET', `/traces?page_size=4${after}`)
    seen.push(
      ...(body['data'] as { trace_id: string; client_spans: number }[]).map(({ trace_id, client_spans }) => [trace_id, client_spans]),
    )
    more = body['has_more'] === true
    after = `&after=${String(body['next_cursor'])}`
  }
  t.deepEqual(
    seen,
    [5, 4, 3, 2, 1, 0].map((index) => [trace(index), 6]),
  )
  t.is((await control.call(tenant.workspaceKey, 'GET', '/traces?after=x')).status, 400)
  t.is((await control.call(tenant.workspaceKey, 'GET', '/traces?sort=x')).status, 400)
})
