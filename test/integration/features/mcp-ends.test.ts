// Each end that a call of a priced tool can have, in both eras of servers and of clients: the budget, the logs and the metrics count the same sum.
import type { ServerResponse } from 'node:http'
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { ask, begin, envelope, modernHeaders, post } from '../../support/mcp/raw-client.ts'
import { answerJson, type AskedMessage, type ScriptedServer, startScriptedServer } from '../../support/mcp/scripted-server.ts'
import { logsOf, type McpTenant, must, storeServer } from './mcp-setup.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let tenant: Tenant
let acme: McpTenant
let server: ScriptedServer

type Era = 'modern' | 'legacy'
const eras = ['modern', 'legacy'] as const
const price = 0.25

/** The tools that were called, each once for each call. */
const heard: string[] = []
/** The questions of a legacy server that wait for an answer, by their ids. */
const waiting = new Map<string, () => void>()

const event = (message: object): string => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`
const question = { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } } }
const page = (res: ServerResponse, status: number, headers: Record<string, string> = {}): void =>
  void res.writeHead(status, { 'content-type': 'text/html', ...headers }).end('<p>no</p>')

/** Asks, and ends with an answer when its client has answered. */
function asks(asked: AskedMessage, res: ServerResponse, answer: object): void {
  if (asked.path.startsWith('/modern')) {
    const isAnswered = asked.params?.['inputResponses'] !== undefined
    const asking = { result: { resultType: 'input_required', inputRequests: { who: question }, requestState: 'mine' } }
    return answerJson(res, asked, isAnswered ? answer : asking)
  }
  const id = `q${heard.length}`
  res.writeHead(200, { 'content-type': 'text/event-stream' }).write(event({ id, ...question }))
  waiting.set(id, () => res.end(event({ id: asked.id, ...answer })))
}

interface End {
  readonly does: (asked: AskedMessage, res: ServerResponse) => void
  /** Whether it costs, at a server of each era. */
  readonly costs: Readonly<Record<Era, boolean>>
  /** The conduct of the client: it waits, leaves once its call is heard, or answers a question, or never does. */
  readonly client?: 'leaves' | 'answers' | 'is silent'
}

const always = { modern: true, legacy: true }
const never = { modern: false, legacy: false }
const done = { result: { resultType: 'complete', content: [{ type: 'text', text: 'done' }] } }
const refusal = { error: { code: -32000, message: 'No.' } }
const json = { 'content-type': 'application/json' }

const ends: Readonly<Record<string, End>> = {
  done: { costs: always, does: (asked, res) => answerJson(res, asked, done) },
  failed: {
    costs: always,
    does: (asked, res) => answerJson(res, asked, { result: { resultType: 'complete', content: [], isError: true } }),
  },
  refused: { costs: never, does: (asked, res) => answerJson(res, asked, refusal) },
  garbage: { costs: always, does: (_, res) => void res.writeHead(200, json).end('{oops') },
  foreign: { costs: always, does: (asked, res) => answerJson(res, { ...asked, id: 'other' }, done) },
  empty: { costs: always, does: (_, res) => void res.writeHead(200, json).end() },
  broken: {
    costs: always,
    does(_, res) {
      res.writeHead(200, { ...json, 'content-length': '1000' })
      res.write('{"a', () => res.destroy())
    },
  },
  reset: { costs: always, does: (_, res) => void res.destroy() },
  long: {
    costs: always,
    does: (asked, res) => answerJson(res, asked, { result: { content: [{ type: 'text', text: 'x'.repeat(4 * 1024 * 1024) }] } }),
  },
  many: {
    costs: always,
    does: (asked, res) => answerJson(res, asked, { result: { content: [], structuredContent: { all: Array(1_000_100).fill(0) } } }),
  },
  silent: { costs: always, does() {} },
  crashed: { costs: always, does: (_, res) => page(res, 500) },
  unauthorized: { costs: never, does: (_, res) => page(res, 401) },
  busy: { costs: never, does: (_, res) => page(res, 429) },
  moved: { costs: never, does: (_, res) => page(res, 307, { location: 'http://192.0.2.1/' }) },
  left: { costs: always, client: 'leaves', does() {} },
  asked: { costs: always, client: 'answers', does: (asked, res) => asks(asked, res, done) },
  abandoned: { costs: { modern: false, legacy: true }, client: 'is silent', does: (asked, res) => asks(asked, res, done) },
}

test.before(async () => {
  server = await startScriptedServer((asked, res, req) => {
    if (req.method === 'DELETE') return void res.writeHead(200).end()
    if (asked.method === undefined && typeof asked.id === 'string') {
      res.writeHead(202).end()
      waiting.get(asked.id)?.()
      return true
    }
    if (asked.method !== 'tools/call') return false
    const name = String(asked.params?.['name'])
    heard.push(name)
    ends[name]?.does(asked, res)
    return true
  })
  control = await startControl({}, { MCP_MAX_RESULT_IN_MB: '3', MCP_REQUEST_TIMEOUT: '6s' })
  tenant = await control.createTenant('acme')
  acme = { control, tenant }
  for (const era of eras) await storeServer(acme, era, `${server.origin}/${era}`, { tool_price: price })
  await control.refresh()
})
test.after.always(async () => {
  await control?.close()
  await server?.stop()
})

const at = (era: Era) => `${control.origin}/${era}/mcp`
const capabilities = { elicitation: {} }
const accepted = { action: 'accept', content: {} }

/** Sends a call, and leaves when the server has heard it, or when the first message has come. */
async function leaving(
  url: string,
  { body, headers, at: moment }: { body: object; headers: Record<string, string>; at: 'heard' | 'asked' },
) {
  const gone = new AbortController()
  const before = heard.length
  const sent = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers }
  const called = fetch(url, { method: 'POST', headers: sent, body: JSON.stringify(body), signal: gone.signal })
  if (moment === 'heard') await eventually(() => heard.length > before, 5000, 'the call at the server')
  else await (await called).body?.getReader().read()
  gone.abort()
  await called.catch(() => {})
}

interface MadeCall {
  readonly url: string
  readonly key: string
  readonly name: string
}

async function callAsModern({ url, key, name }: MadeCall): Promise<void> {
  const headers = { authorization: `Bearer ${key}` }
  const params = { name, arguments: {} }
  const { client } = ends[name] ?? {}
  if (client === 'leaves') {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta: envelope() } }
    return leaving(url, { body, headers: { ...modernHeaders(body), ...headers }, at: 'heard' })
  }
  const first = (await ask(url, 'tools/call', params, { headers, capabilities })).messages.at(-1)?.result
  if (client !== 'answers') return
  const inputResponses = Object.fromEntries(Object.keys(first?.['inputRequests']).map((one) => [one, accepted]))
  await ask(url, 'tools/call', { ...params, requestState: first?.['requestState'], inputResponses }, { headers, capabilities })
}

async function callAsLegacy({ url, key, name }: MadeCall): Promise<void> {
  const session = await begin(url, { authorization: `Bearer ${key}` }, capabilities)
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } }
  const { client } = ends[name] ?? {}
  if (client === 'leaves') return leaving(url, { body, headers: session, at: 'heard' })
  if (client === 'is silent') return leaving(url, { body, headers: session, at: 'asked' })
  if (client !== 'answers') return void (await post(url, body, session))
  const sent = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...session }
  const called = await fetch(url, { method: 'POST', headers: sent, body: JSON.stringify(body) })
  const reader = called.body?.getReader()
  const text = Buffer.from((await reader?.read())?.value ?? []).toString()
  const id: unknown = JSON.parse(/data: (.*)/.exec(text)?.[1] ?? '{}').id
  await post(url, { jsonrpc: '2.0', id, result: accepted }, session)
  while ((await reader?.read())?.done === false);
}

const usd = (row: Readonly<Record<string, unknown>>): number => Number(row['cost_pico'] ?? 0) / 1e12

for (const era of eras)
  for (const [clientEra, call] of [
    ['modern', callAsModern],
    ['legacy', callAsLegacy],
  ] as const)
    test.serial(
      `a ${clientEra} client at a ${era} server: each end of a call costs, or does not, in the budget as in the logs`,
      async (t) => {
        const names = Object.keys(ends)
        const sum = names.filter((name) => ends[name]?.costs[era]).length * price
        const body = {
          name: `${clientEra} at ${era}`,
          workspace_id: tenant.workspaceId,
          scopes: ['mcp.invoke'],
          usage_limits: { type: 'cost', credit_limit: sum + price / 2 },
        }
        const { key: secret, id } = await must(acme, 'POST', '/api-keys/workspace/service', body)
        const key = String(secret)
        await control.refresh()
        const spentBefore = await spent()
        for (const name of names) await call({ url: at(era), key, name })
        const isOfCalls = (row: Readonly<Record<string, unknown>>): boolean =>
          row['api_key_id'] === id && names.includes(String(row['model']))
        const rowsOf = async () => (await logsOf(acme, era, 0)).filter(isOfCalls)
        const requests = names.length + (clientEra === 'modern' ? 1 : 0)
        await eventually(async () => (await rowsOf()).length >= requests, 10_000, 'the logs of all calls')
        const rows = await rowsOf()
        t.deepEqual(
          names.map((name) => [name, rows.filter((row) => row['model'] === name).reduce((total, row) => total + usd(row), 0)]),
          names.map((name) => [name, ends[name]?.costs[era] ? price : 0]),
        )
        const over = await ask(at(era), 'tools/call', { name: 'done', arguments: {} }, { headers: { authorization: `Bearer ${key}` } })
        t.is(over.status, 412, over.text)
        t.like(over.messages[0]?.error?.data?.['limits'], [{ used: sum }])
        t.is(Math.round(((await spent()) - spentBefore) * 1e6) / 1e6, sum)
      },
    )

/** Returns the cost of all calls of the process by its metrics. */
async function spent(): Promise<number> {
  const metrics = await (await fetch(`${control.origin}/metrics`)).text()
  return Number(/gateway_cost_usd_total\{provider="mcp"\} ([\d.e-]+)/.exec(metrics)?.[1] ?? 0)
}
