import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { ask, begin, post, type RawMessage } from '../../support/mcp/raw-client.ts'
import { answerJson, capabilities, type ScriptedServer, type Script, startScriptedServer } from '../../support/mcp/scripted-server.ts'
import { mcpScopes, mcpServer } from '../../support/mcp/stored-server.ts'

let server: ScriptedServer
let bed: GatewayBed
/** With room for few sessions. */
let small: GatewayBed
const listening = { open: 0, most: 0 }
/** The discoveries by their credential, and the headers of the calls of tools. */
const discovered: unknown[] = []
const calls: unknown[] = []
let lists = 0

const big = 'ä'.repeat(1024 * 1024)
/** The facts that a server states beside the usual ones, by the last segment of its path. */
const stated: Readonly<Record<string, object>> = {
  instructions: { instructions: big },
  capabilities: { capabilities: { ...capabilities, experimental: { big } } },
  info: { serverInfo: { name: 'big', version: '1', description: big } },
  all: { instructions: 'ä'.repeat(33 * 1024), capabilities, serverInfo: { name: 'big', version: '1' } },
}

/** A server that states long facts of itself. */
const states: Script = (asked, res) => {
  const [, era, kind = ''] = asked.path.split('/')
  const info = { capabilities, serverInfo: { name: 'scripted', version: '1' }, ...stated[kind] }
  if (stated[kind] === undefined) return false
  if (asked.method === 'initialize') answerJson(res, asked, { result: { protocolVersion: '2025-11-25', ...info } })
  else if (asked.method === 'server/discover' && era === 'modern')
    answerJson(res, asked, { result: { resultType: 'complete', supportedVersions: ['2026-07-28'], ...info } })
  else return false
  return true
}

/** A server whose tools have other names in each list, and want an argument in a header. */
const renames: Script = (asked, res, req) => {
  if (asked.method === 'tools/call') calls.push(req.headers['mcp-param-a'])
  if (asked.method !== 'tools/list' || !asked.path.endsWith('/renames')) return false
  lists += 1
  const inputSchema = { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': 'A' } } }
  const tools = Array.from({ length: 100 }, (_, nth) => ({ name: `${lists}-${nth}`, inputSchema }))
  answerJson(res, asked, {
    result: { resultType: 'complete', tools: [...tools, { name: `${lists}-${'n'.repeat(300_000)}`, inputSchema }] },
  })
  return true
}

const eras = ['modern', 'legacy'] as const

test.before(async () => {
  server = await startScriptedServer((asked, res, req) => {
    if (asked.method === 'server/discover') discovered.push(req.headers['x-token'])
    if (states(asked, res, req) === true || renames(asked, res, req) === true) return true
    if (asked.method !== 'subscriptions/listen') return false
    listening.most = Math.max(listening.most, (listening.open += 1))
    res.on('close', () => (listening.open -= 1))
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write('data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}\n\n')
    return true
  })
  const long = eras.flatMap((era) => Object.keys(stated).map((kind) => `${era}/${kind}`))
  const passthroughHeaders = { 'x-token': 'x-token' }
  const mcpServers = Object.fromEntries(
    [...eras, ...long, 'modern/renames'].map((path) => {
      const slug = path.replace('/', '-')
      return [slug, mcpServer({ slug, url: `${server.origin}/${path}`, passthroughHeaders })]
    }),
  )
  const keys = { [workspaceKey]: mcpScopes }
  bed = await startGateway({ keys, mcpServers })
  small = await startGateway({ keys, mcpServers, settings: { mcpSessions: 40 } })
})
test.after.always(async () => {
  await Promise.all([bed?.stop(), small?.stop()])
  await server?.stop()
})

const at = (slug: string, { origin } = bed) => `${origin}/${slug}/mcp`

interface Watching {
  readonly slug: string
  readonly session: Record<string, string>
  readonly used?: GatewayBed
}

async function watch({ slug, session, used = bed }: Watching, uri: string, method = 'subscribe'): Promise<RawMessage | undefined> {
  const answer = await post(at(slug, used), { jsonrpc: '2.0', id: 1, method: `resources/${method}`, params: { uri } }, session)
  return answer.messages[0]
}

const listen = async (slug: string, resourceSubscriptions: readonly string[]): Promise<RawMessage | undefined> =>
  (await ask(at(slug), 'subscriptions/listen', { notifications: { resourceSubscriptions } }, { headers: { accept: 'application/json' } }))
    .messages[0]

/** An address of so many bytes. */
const uriOf = (bytes: number, name = ''): string => `test://${name}/`.padEnd(bytes, 'u')

const lengths: readonly (readonly [what: string, uri: string, isTaken: boolean])[] = [
  ['the longest', uriOf(2048), true],
  ['a byte more', uriOf(2049), false],
  ['letters of two bytes', `test:///${'ä'.repeat(1021)}`, false],
  ['more letters than are compared', uriOf(9000), false],
]
for (const era of eras)
  for (const [what, uri, isTaken] of lengths)
    test.serial(`the address of a resource to hear of has a bound: ${what}, ${era}`, async (t) => {
      const answer = await watch({ slug: era, session: await begin(at(era)) }, uri)
      t.deepEqual(answer?.result, isTaken ? {} : undefined)
      if (!isTaken) t.is(answer?.error?.code, -32602)
      const told = await listen(era, [uri])
      // It is refused for its form, as this client takes no stream, but for its length before.
      t.is(told?.error?.code, isTaken ? -32600 : -32602)
    })

for (const era of eras)
  test.serial(`the addresses of a session have a bound together, and one that is given up makes room: ${era}`, async (t) => {
    const watching = { slug: era, session: await begin(at(era)) }
    for (let nth = 0; nth < 128; nth += 1) t.deepEqual((await watch(watching, uriOf(2048, String(nth))))?.result, {})
    t.is((await watch(watching, uriOf(2048, 'more')))?.error?.data?.['reason'], 'too_many_subscriptions')
    t.deepEqual((await watch(watching, uriOf(2048, '7')))?.result, {}, 'one that it has')
    t.deepEqual((await watch(watching, uriOf(2048, '7'), 'unsubscribe'))?.result, {})
    t.deepEqual((await watch(watching, uriOf(2048, 'more')))?.result, {})
    await fetch(at(era), { method: 'DELETE', headers: { ...watching.session, authorization: `Bearer ${workspaceKey}` } })
    t.is((await watch(watching, uriOf(20)))?.error?.message, 'The session is not known here. Begin a new one.')
  })

test.serial('sessions are weighed by their addresses: those of one organisation make room for each other', async (t) => {
  const fill = async (watching: Watching): Promise<number> => {
    for (let nth = 0; ; nth += 1)
      if ((await watch(watching, uriOf(2048, `${watching.session['mcp-session-id']?.slice(-8)}-${nth}`)))?.error !== undefined) return nth
  }
  const watchings = [await begin(at('modern', small)), await begin(at('modern', small))].map((session) => ({
    slug: 'modern',
    session,
    used: small,
  }))
  const [one, other] = watchings
  // Half of 40 places, each of 8 KiB.
  t.is(await fill(one as Watching), 80)
  t.is(await fill(other as Watching), 80)
  t.is(await fill(one as Watching), 80)
})

test.serial('subscriptions that come at once leave one listening, and none when the session ends', async (t) => {
  const session = await begin(at('modern'))
  const headers = { ...session, authorization: `Bearer ${workspaceKey}`, accept: 'text/event-stream' }
  const stream = await fetch(at('modern'), { headers })
  await eventually(() => listening.open === 1, 5000)
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => watch({ slug: 'modern', session }, uriOf(20, String(n)))))
  for (const answer of answers) t.deepEqual(answer?.result, {})
  await eventually(() => listening.open === 1, 5000, 'the former ones to end')
  t.true(listening.most <= 3, String(listening.most))
  await fetch(at('modern'), { method: 'DELETE', headers })
  await stream.text()
  await eventually(() => listening.open === 0, 5000, 'the last one to end')
})

for (const era of eras)
  for (const kind of ['instructions', 'capabilities', 'info'])
    test.serial(`long facts of a server are cut or left out: ${kind}, ${era}`, async (t) => {
      const slug = `${era}-${kind}`
      const modern = (await ask(at(slug), 'server/discover')).messages[0]?.result
      const params = { protocolVersion: '2025-11-25', capabilities: {} }
      const legacy = (await post(at(slug), { jsonrpc: '2.0', id: 0, method: 'initialize', params })).messages[0]?.result
      for (const facts of [modern, legacy]) {
        t.is(facts?.['instructions']?.length, kind === 'instructions' ? 32 * 1024 : undefined)
        t.deepEqual(facts?.['capabilities'], kind === 'capabilities' ? {} : capabilities)
        t.is(facts?.['serverInfo'].name, kind === 'info' ? 'unknown' : 'scripted')
      }
    })

test.serial('sessions with servers are weighed by the facts of both sides', async (t) => {
  const listOf = (experimental: object) => ask(at('legacy-all', small), 'tools/list', {}, { capabilities: { experimental } })
  for (let nth = 0; nth < 6; nth += 1) t.is((await listOf({ [`a${nth}`]: {} })).status, 200)
  // Half of 40 places; instructions of 64 KiB take more than eight.
  t.is(small.gateway.mcp.sessions(), 2)
  const refused = await listOf({ big: 'b'.repeat(300_000) })
  t.is(refused.messages[0]?.error?.data?.['code'], 'rate_limited')
  t.true(small.gateway.mcp.sessions() <= 2)
})

const listAs = (token: string) => ask(at('modern-all'), 'tools/list', {}, { headers: { 'x-token': token } })

test.serial('findings about modern servers are weighed, and those of other credentials make room', async (t) => {
  for (let nth = 0; nth < 400; nth += 1) await listAs(`t${nth}`)
  const before = discovered.length
  await listAs('t399')
  t.is(discovered.length, before, 'the last one is known')
  await listAs('t0')
  t.deepEqual(discovered.slice(before), ['t0'], 'the first one is not')
})

async function headerOf(name: string): Promise<unknown> {
  await ask(at('modern-renames'), 'tools/call', { name, arguments: { a: 'x' } })
  return calls.at(-1)
}

test.serial('the arguments that go in headers are those of the last list', async (t) => {
  for (let nth = 1; nth <= 3; nth += 1) await ask(at('modern-renames'), 'tools/list')
  t.is(await headerOf(`${lists}-99`), 'x')
  t.is(await headerOf(`${lists - 1}-99`), undefined)
})
