import test from 'ava'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant

test.before(async () => {
  control = await startControl({}, { LOG_SEALING: 'on' })
  acme = await control.createTenant('acme')
})
test.after.always(() => control.close())

const now = Date.now()
const nanos = (ms: number) => `${now + ms}000000`
const traceOf = (letter: string) => letter.repeat(32)
const idOf = (digit: string) => digit.repeat(16)
const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })

interface Given {
  readonly trace: string
  readonly id: string
  readonly at?: number
  readonly more?: object
}

const span = ({ trace, id, at = 0, more = {} }: Given) => ({
  traceId: trace,
  spanId: id,
  name: 'step',
  startTimeUnixNano: nanos(at),
  endTimeUnixNano: nanos(at + 100),
  ...more,
})
const request = (spans: readonly object[]) => ({ resourceSpans: [{ scopeSpans: [{ spans }] }] })
const many = (length: number) => Array.from({ length }, () => ({}))
const send = (body: object) => control.call(acme.workspaceKey, 'POST', '/otel/v1/traces', body)
const read = async (trace: string) => control.call(acme.workspaceKey, 'GET', `/traces/${trace}`)

test.serial('a resource that is long costs no more for its many spans', async (t) => {
  const trace = traceOf('9')
  const spans = Array.from({ length: 7000 }, (_, at) => ({
    traceId: trace,
    spanId: (at + 1).toString(16).padStart(16, '0'),
    startTimeUnixNano: nanos(at),
    endTimeUnixNano: nanos(at + 1),
  }))
  const attributes = [text('service.name', 'agent'), ...Array.from({ length: 28 }, (_, at) => text(`n${at}`, 'x'.repeat(32_768)))]
  const body = { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans }] }] }
  const bytes = JSON.stringify(body).length
  t.true(bytes < 2 * 1024 * 1024)
  const before = process.memoryUsage.rss()
  t.is((await send(body)).status, 200)
  t.true(process.resourceUsage().maxRSS * 1024 - before < 10 * bytes + 256 * 1024 * 1024)
  const { rows } = await control.sql.query(
    'SELECT count(*)::int AS spans, sum(octet_length(details))::int AS bytes FROM trace_spans WHERE trace_id = $1',
    [trace],
  )
  t.like(rows[0], { spans: 7000 })
  t.true((rows[0] as { bytes: number }).bytes < 20 * 1024 * 1024)
  const { body: told } = await read(trace)
  const [{ service, details } = {}] = told['spans'] as Record<string, unknown>[]
  t.is(service, 'agent')
  t.deepEqual(details, { attributes: {}, resource: { 'service.name': 'agent' }, scope: null, events: [], links: [], dropped: 28 })
})

test('a trace shows the details of its first spans when they are too long', async (t) => {
  const trace = traceOf('8')
  const attributes = Array.from({ length: 55 }, (_, at) => text(`n${at}`, 'x'.repeat(32_768)))
  for (let at = 1; at <= 12; at += 1)
    await send(request([span({ trace, id: at.toString(16).padStart(16, '0'), at, more: { attributes } })]))
  const { body } = await read(trace)
  const spans = body['spans'] as Record<string, unknown>[]
  t.is(spans.length, 12)
  t.not(spans[0]?.['details'], null)
  t.is(spans[11]?.['details'], null)
  t.true(body['truncated'])
  t.true(JSON.stringify(body).length < 18 * 1024 * 1024)
})

test('empty spans, scopes and attributes are counted before they are checked', async (t) => {
  for (const resourceSpans of [
    many(10_001),
    [{ scopeSpans: many(10_001) }],
    [{ scopeSpans: [{ spans: many(10_001) }] }],
    [{ scopeSpans: [{ spans: [{ events: many(100_001) }] }] }],
    [{ resource: { attributes: many(100_001) } }],
  ]) {
    const { status, body } = await send({ resourceSpans })
    t.is(status, 400)
    t.regex(JSON.stringify(body), /resourceSpans.*|At most 100?_?000/)
  }
})

test('logins and keys in the URLs of a span are not kept', async (t) => {
  const trace = traceOf('7')
  const url = 'https://u:pw-canary@host.example/p?api_key=key-canary&page=2'
  const attributes = [
    text('url.full', url),
    text('url.query', 'page=2&token=key-canary'),
    text('http.target', '/p?sig=key-canary'),
    { key: 'list', value: { arrayValue: { values: [{ stringValue: url }] } } },
  ]
  const events = [{ name: `GET ${url}`, timeUnixNano: nanos(0), attributes: [text('exception.message', `no answer of ${url}`)] }]
  await send(
    request([span({ trace, id: idOf('1'), more: { name: url, attributes, events, status: { code: 2, message: `failed: ${url}` } } })]),
  )
  const { body } = await read(trace)
  t.notRegex(JSON.stringify(body), /canary/)
  t.like((body['spans'] as object[])[0], {
    details: {
      attributes: {
        'url.full': 'https://[removed]@host.example/p?api_key=[removed]&page=2',
        'url.query': 'page=2&token=[removed]',
        'http.target': '/p?sig=[removed]',
      },
    },
  })
})
