import test from 'ava'
import { createEgress } from '../../../src/gateway/egress/create-egress.ts'
import { parseAllowedHosts } from '../../../src/gateway/egress/allowed-hosts.ts'
import { createUpstream } from '../../../src/gateway/mcp/upstream/upstream.ts'
import { eventually } from '../../support/eventually.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { type FailingHandshakes, handshakeFailures, startFailingHandshakes } from '../../support/mcp/failing-handshakes.ts'
import { startHostileServer } from '../../support/mcp/hostile-server.ts'
import type { Listening } from '../../support/mcp/http.ts'
import { type LegacyReference, startLegacyServer } from '../../support/mcp/legacy-server.ts'
import { ask, begin, post } from '../../support/mcp/raw-client.ts'
import { mcpScopes, mcpServer } from '../../support/mcp/stored-server.ts'

const kinds =
  'huge huge-event slow silent redirect malformed no-rpc wrong-id two-ends broken page packed endless crowd odd changing asking'.split(' ')
const bound = 'gh-test-key-of-a-bound-organisation-00'
const secret = 'Bearer upstream-secret-of-the-server'
let hostile: Listening
let failing: FailingHandshakes
/** Its tool `wait` never answers. */
let slow: LegacyReference
/** With time for the largest answers on a busy machine. */
let bed: GatewayBed
/** With short times, for servers that never finish. */
let hasty: GatewayBed

const mcpResultBytes = 4 * 1024 * 1024

test.before(async () => {
  ;[hostile, failing, slow] = await Promise.all([startHostileServer(), startFailingHandshakes(), startLegacyServer()])
  const auth = { type: 'headers', headers: { authorization: secret } } as const
  const servers = kinds.map((slug) => [slug, mcpServer({ slug, url: `${hostile.origin}/${slug}`, auth })])
  const handshakes = handshakeFailures.map((slug) => [
    `events-${slug}`,
    mcpServer({ slug: `events-${slug}`, url: `${failing.origin}/${slug}`, transport: 'sse', auth }),
  ])
  bed = await startGateway({
    keys: { [workspaceKey]: mcpScopes, [bound]: { ...mcpScopes, allowedHosts: parseAllowedHosts(['mcp.example.com']) } },
    mcpServers: {
      ...Object.fromEntries(servers),
      metadata: mcpServer({ slug: 'metadata', url: 'http://169.254.169.254/mcp', auth }),
      private: mcpServer({ slug: 'private', url: 'http://10.1.2.3/mcp', auth }),
    },
    settings: { mcpIdleMs: 30_000, mcpTotalMs: 60_000, mcpResultBytes },
  })
  hasty = await startGateway({
    keys: { [workspaceKey]: mcpScopes },
    mcpServers: {
      ...Object.fromEntries([...servers, ...handshakes]),
      'legacy-streamable': mcpServer({ slug: 'legacy-streamable', url: slow.url, auth }),
      'legacy-sse': mcpServer({ slug: 'legacy-sse', url: slow.sseUrl, transport: 'sse', auth }),
    },
    settings: { mcpIdleMs: 600, mcpTotalMs: 1500, mcpResultBytes },
  })
})
test.after.always(async () => {
  await Promise.all([bed?.stop(), hasty?.stop()])
  await Promise.all([hostile?.stop(), failing?.stop(), slow?.stop()])
})

const at = (server: string, { origin } = bed) => `${origin}/${server}/mcp`
const names = async (server: string) => (await ask(at(server), 'tools/list')).messages[0]?.result?.['tools'] as Record<string, string>[]
const call = { name: 'echo', arguments: {} }

const ends: readonly [kind: string, code: string, logged: number][] = [
  ['huge', 'upstream_bad_response', 502],
  ['huge-event', 'upstream_bad_response', 502],
  ['slow', 'upstream_timeout', 504],
  ['silent', 'upstream_timeout', 504],
  ['redirect', 'upstream_bad_response', 502],
  ['malformed', 'upstream_bad_response', 502],
  ['no-rpc', 'upstream_bad_response', 502],
  ['wrong-id', 'upstream_bad_response', 502],
  ['broken', 'upstream_bad_response', 502],
  ['page', 'upstream_bad_response', 502],
  ['packed', 'upstream_bad_response', 502],
]

for (const [kind, code, logged] of ends)
  test(`a call at a server that is ${kind} ends in bounds, with an error that tells no secret`, async (t) => {
    const before = process.memoryUsage().rss
    const used = code === 'upstream_timeout' ? hasty : bed
    const modern = await ask(at(kind, used), 'tools/call', call)
    t.is(modern.status, 200)
    t.is(modern.messages.at(-1)?.error?.data?.['code'], code)
    t.is(modern.messages.at(-1)?.error?.code, code === 'upstream_timeout' ? -32001 : -32000)
    t.is(modern.messages.at(-1)?.id, 1)
    const legacy = await post(at(kind, used), { jsonrpc: '2.0', id: 'l', method: 'tools/call', params: call })
    t.is(legacy.messages.at(-1)?.error?.data?.['code'], code)
    for (const { text } of [modern, legacy]) t.notRegex(text, /secret|hunter2|169\.254|127\.0\.0\.1/)
    t.true(used.logged.some(({ record }) => record.providerSlug === kind && record.status === logged && record.outcome === 'error'))
    t.true(process.memoryUsage().rss - before < 400 * 1024 * 1024)
  })

test.serial('a handshake that fails ends in bounds and leaves no stream of events open: the older transport', async (t) => {
  for (const kind of handshakeFailures) {
    const opened = failing.opened()
    const { status, text, messages } = await ask(at(`events-${kind}`, hasty), 'tools/call', call)
    t.is(status, 200, `${kind}: ${text}`)
    t.regex(String(messages.at(-1)?.error?.data?.['code']), /^upstream_(?:bad_response|timeout|error)$/, `${kind}: ${text}`)
    t.notRegex(text, /secret|192\.0\.2\.1/)
    t.true(failing.opened() > opened, kind)
    await eventually(() => failing.open() === 0, 5000, `the stream of ${kind} to end`)
  }
})

for (const slug of ['legacy-streamable', 'legacy-sse'])
  test(`a call whose answer never comes ends in bounds, and is cancelled: ${slug}`, async (t) => {
    const before = slow.cancelled()
    const answer = await ask(at(slug, hasty), 'tools/call', { name: 'wait', arguments: {} })
    t.is(answer.messages.at(-1)?.error?.data?.['code'], 'upstream_timeout', answer.text)
    await eventually(() => slow.cancelled() > before, 5000, 'the call to be cancelled')
  })

test('a server in a metadata service or a private network is never asked', async (t) => {
  for (const server of ['metadata', 'private']) {
    const answer = await ask(at(server), 'tools/list')
    t.is(answer.messages[0]?.error?.data?.['code'], 'blocked_host')
    t.notRegex(answer.text, /secret/)
  }
})

test('a server at a host that the organisation does not allow is never asked', async (t) => {
  const answer = await ask(at('two-ends'), 'tools/call', call, { headers: { authorization: `Bearer ${bound}` } })
  t.is(answer.messages[0]?.error?.data?.['code'], 'blocked_host')
})

test('the first of two ends counts', async (t) => {
  const answer = await ask(at('two-ends'), 'tools/call', call)
  t.is(answer.messages.length, 1)
  t.is(answer.messages[0]?.result?.['content'][0].text, 'first')
})

test('a list has bounds: names, schemas, descriptions, items', async (t) => {
  const odd = await names('odd')
  t.deepEqual(
    odd.map(({ name, description = '' }) => [name, description.length > 10 ? Buffer.byteLength(description) : description]),
    [
      ['twice', 'first'],
      ['long', 8192],
    ],
  )
  t.is((await names('crowd')).length, 1000)
  const [one, two] = [await names('changing'), await names('changing')]
  t.notDeepEqual(one, two)
})

test('a list without an end is read so far', async (t) => {
  const egress = createEgress({ trustedHosts: ['127.0.0.1'], connectTimeoutMs: 2000 })
  const bounds = { idleMs: 5000, totalMs: 10_000, resultBytes: 1024 * 1024 }
  const upstream = createUpstream({ egress, bounds, sessions: { most: 10, idleMs: 1000 }, now: Date.now })
  const server = { id: 's', organisationId: 'o', url: `${hostile.origin}/endless`, transport: 'http', headers: [] } as const
  const { signal } = new AbortController()
  t.is((await upstream.listAll(server, 'tools', signal)).length, 50)
  t.is((await upstream.listAll({ ...server, url: `${hostile.origin}/crowd` }, 'tools', signal)).length, 1000)
  await upstream.close()
  await egress.close()
})

test('a question to a client that cannot be asked ends as an error of the tool', async (t) => {
  const answer = await post(at('asking'), { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }, { accept: 'application/json' })
  t.is(answer.messages[0]?.result?.['isError'], true)
  const session = await begin(at('asking'))
  const asked = await post(at('asking'), { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }, session)
  t.is(asked.messages.at(-1)?.error?.code, -32021)
  t.deepEqual(asked.messages.at(-1)?.error?.data, { requiredCapabilities: { roots: {} } })
})
