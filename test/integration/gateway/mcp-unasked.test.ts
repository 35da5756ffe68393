import type { ServerResponse } from 'node:http'
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { ask, begin, post } from '../../support/mcp/raw-client.ts'
import { answerJson, type AskedMessage, type ScriptedServer, type Script, startScriptedServer } from '../../support/mcp/scripted-server.ts'
import { mcpScopes, mcpServer } from '../../support/mcp/stored-server.ts'

let server: ScriptedServer
let bed: GatewayBed

const mcpResultBytes = 1024 * 1024
/** The answers to requests of the server, by its path. */
const answers = new Map<string, AskedMessage[]>()
function answersAt(path: string): AskedMessage[] {
  const known = answers.get(path) ?? []
  answers.set(path, known)
  return known
}
/** The streams of calls that wait for such answers. */
const waiting = new Map<string, () => void>()
let cutAfter = 0

const event = (message: object): string => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`
const question = (id: string, letters = 0): string =>
  event({ id, method: 'elicitation/create', params: { message: 'm'.repeat(letters), requestedSchema: { type: 'object', properties: {} } } })
const open = (res: ServerResponse): void => void res.writeHead(200, { 'content-type': 'text/event-stream' })

/** Writes a piece again and again, as fast as it is read. */
function flood(res: ServerResponse, piece: string, { most, after }: { most: number; after: () => void }): void {
  let sent = 0
  const more = (): void => {
    while (sent < most && !res.destroyed) {
      sent += 1
      if (!res.write(piece)) return void res.once('drain', more)
    }
    after()
  }
  more()
}

/** The acts of servers in a call of a tool, by the last segment of their path. */
const acts: Readonly<Record<string, (asked: AskedMessage, res: ServerResponse) => void>> = {
  /** Pings a hundred thousand times. */
  pings(asked, res) {
    open(res)
    const pings = Array.from({ length: 500 }, (_, at) => event({ id: `p${at}`, method: 'ping' })).join('')
    flood(res, pings, { most: 200, after: () => res.end(event({ id: asked.id, result: { content: [] } })) })
  },
  /** Asks thirty questions, and answers when all have their answers. */
  many(asked, res) {
    open(res)
    waiting.set(asked.path, () => res.end(event({ id: asked.id, result: { content: [] } })))
    for (let at = 0; at < 30; at += 1) res.write(question(`q${at}`))
  },
  /** Asks two questions that are too long together. */
  long(asked, res) {
    open(res)
    waiting.set(asked.path, () => res.end(event({ id: asked.id, result: { content: [] } })))
    for (const id of ['a', 'b']) res.write(question(id, 600_000))
  },
  /** Asks, and answers without waiting. */
  rash(asked, res) {
    open(res)
    res.write(question('q'))
    setTimeout(() => res.end(event({ id: asked.id, result: { content: [{ type: 'text', text: 'done' }] } })), 100)
  },
  crowd: (asked, res) =>
    answerJson(res, asked, {
      result: {
        resultType: 'input_required',
        inputRequests: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`q${at}`, { method: 'roots/list' }])),
      },
    }),
}

const script: Script = (asked, res, req) => {
  const kind = asked.path.split('/').at(-1) ?? ''
  if (req.method === 'GET' && kind === 'lines') {
    // Empty lines of data without an end.
    open(res)
    flood(res, 'data\n'.repeat(13_000), { most: 4000, after: () => (cutAfter = Number.NaN) })
    res.once('close', () => (cutAfter ||= 1))
    return true
  }
  if (asked.method === undefined && asked.id !== undefined) answersAt(asked.path).push(asked)
  if (asked.method !== 'tools/call' || acts[kind] === undefined) return false
  acts[kind](asked, res)
  return true
}

test.before(async () => {
  server = await startScriptedServer(script)
  const kinds = ['legacy/pings', 'legacy/many', 'legacy/long', 'legacy/rash', 'legacy/lines', 'modern/crowd']
  bed = await startGateway({
    keys: { [workspaceKey]: mcpScopes },
    mcpServers: Object.fromEntries(
      kinds.map((kind) => [kind.split('/')[1], mcpServer({ slug: kind.replace('/', '-'), url: `${server.origin}/${kind}` })]),
    ),
    settings: { mcpResultBytes },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await server?.stop()
})

const at = (slug: string) => `${bed.origin}/${slug}/mcp`
const capabilities = { elicitation: {}, roots: {} }
const call = { name: 'a', arguments: {} }

test.serial('a server that sends requests faster than they are answered loses its session', async (t) => {
  const modern = await ask(at('pings'), 'tools/call', call)
  t.is(modern.messages[0]?.error?.data?.['code'], 'upstream_bad_response')
  t.regex(modern.messages[0]?.error?.message ?? '', /more than 64 requests of its own/)
  t.true(answersAt('/legacy/pings').length <= 200, String(answersAt('/legacy/pings').length))
})

const crowds: readonly (readonly [slug: string, asked: number, refused: number])[] = [
  ['many', 16, 14],
  ['long', 1, 1],
]
for (const [slug, asked, refused] of crowds)
  test.serial(`questions of a server in one session have a bound, and those beyond it are refused: ${slug}`, async (t) => {
    const first = (await ask(at(slug), 'tools/call', call, { capabilities })).messages[0]?.result
    t.is(first?.['resultType'], 'input_required')
    const { requestState, inputRequests } = first ?? {}
    t.is(Object.keys(inputRequests).length, asked)
    const told = answersAt(`/legacy/${slug}`)
    await eventually(() => told.length === refused, 5000, 'the refusals')
    const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, { action: 'decline' }]))
    const ending = ask(at(slug), 'tools/call', { ...call, requestState, inputResponses }, { capabilities, id: 2 })
    await eventually(() => told.length === asked + refused, 5000, 'the answers')
    waiting.get(`/legacy/${slug}`)?.()
    t.deepEqual((await ending).messages[0]?.result?.['content'], [])
  })

test.serial('a question that its server does not wait for ends with its call', async (t) => {
  for (let round = 0; round < 20; round += 1) {
    const first = (await ask(at('rash'), 'tools/call', call, { capabilities })).messages[0]?.result
    t.is(first?.['resultType'], 'input_required', `round ${round}`)
    const { requestState, inputRequests } = first ?? {}
    const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, { action: 'decline' }]))
    const done = await ask(at('rash'), 'tools/call', { ...call, requestState, inputResponses }, { capabilities })
    t.is(done.messages[0]?.result?.['content'][0].text, 'done')
  }
})

test.serial('a modern server asks so many questions at once', async (t) => {
  const session = await begin(at('crowd'), {}, capabilities)
  const answer = await post(at('crowd'), { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }, session)
  t.regex(answer.messages.at(-1)?.error?.message ?? '', /more than 16 questions at once/)
})

test.serial('empty lines on the stream of a session have a bound, too', async (t) => {
  t.is((await ask(at('lines'), 'tools/call', call)).messages[0]?.result?.['content'][0].text, 'ran')
  await eventually(() => cutAfter !== 0, 20_000, 'the stream to be cut off')
  t.is(cutAfter, 1)
})
