import { randomUUID } from 'node:crypto'
import test from 'ava'
import { createEgress } from '../../../src/gateway/egress/create-egress.ts'
import { createUpstream } from '../../../src/gateway/mcp/upstream/upstream.ts'
import { hashesOf } from '../../../src/lib/mcp-definition.ts'
import { ApiError } from '../../../src/lib/errors.ts'
import { eventually } from '../../support/eventually.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'
import { type LegacyReference, startLegacyServer } from '../../support/mcp/legacy-server.ts'
import { type ReferenceServer, startModernServer } from '../../support/mcp/modern-server.ts'
import { ask, begin, envelope, modernHeaders, post } from '../../support/mcp/raw-client.ts'
import { mcpScopes, mcpServer, toolRule } from '../../support/mcp/stored-server.ts'

let modern: ReferenceServer
let legacy: LegacyReference
let bed: GatewayBed
let isLimited = false
const user = 'gh-test-key-of-a-user-00000000000000'
const second = 'gh-test-key-of-a-second-user-0000000'
const noScope = 'gh-test-key-without-the-scope-000000'
const foreign = 'gh-test-key-of-another-tenant-000000'
const revocable = 'gh-test-key-that-is-revoked-0000000'
const people = { ada: randomUUID(), eve: randomUUID(), out: randomUUID() }
const outsider = 'gh-test-key-of-an-outsider-000000000'

/** Returns the hashes of a tool as its server defines it. */
async function definitionOf(url: string, name: string) {
  const egress = createEgress({ trustedHosts: ['127.0.0.1'], connectTimeoutMs: 2000 })
  const bounds = { idleMs: 5000, totalMs: 10_000, resultBytes: 1024 * 1024 }
  const upstream = createUpstream({ egress, bounds, sessions: { most: 10, idleMs: 1000 }, now: Date.now })
  const server = { id: url, organisationId: 'o', url, transport: 'http', headers: [] } as const
  const tools = await upstream.listAll(server, 'tools', AbortSignal.timeout(5000))
  await upstream.close()
  await egress.close()
  return hashesOf('tool', tools.find((tool) => tool['name'] === name) ?? {})
}

test.before(async () => {
  modern = await startModernServer()
  legacy = await startLegacyServer()
  const rulesOf = async (url: string) => {
    const { hash } = await definitionOf(url, 'count')
    const rejected = toolRule('count', { seen: { hash, inputHash: hash }, rejectedHash: hash })
    return {
      pinning: 'flag' as const,
      capabilities: [toolRule('fail', { enabled: false }), rejected],
      users: new Map([[people.out, false]]),
    }
  }
  bed = await startGateway({
    keys: {
      [workspaceKey]: mcpScopes,
      [user]: { ...mcpScopes, userId: people.ada, id: randomUUID() },
      [second]: { ...mcpScopes, userId: people.eve, id: randomUUID() },
      [outsider]: { ...mcpScopes, userId: people.out, id: randomUUID() },
      [noScope]: { scopes: new Set(['completions.write']) },
      [foreign]: { ...mcpScopes, organisationId: randomUUID(), workspaceId: randomUUID() },
      [revocable]: { ...mcpScopes, id: randomUUID() },
    },
    mcpServers: {
      modern: mcpServer(
        { slug: 'modern', url: modern.url, auth: { type: 'headers', headers: { authorization: 'Bearer upstream-secret-1' } } },
        await rulesOf(modern.url),
      ),
      legacy: mcpServer(
        { slug: 'legacy', url: legacy.url, auth: { type: 'headers', headers: { authorization: 'Bearer upstream-secret-2' } } },
        await rulesOf(legacy.url),
      ),
    },
    ledger: {
      reserve() {
        if (isLimited)
          throw new ApiError('rate_limited', 'The limit of this key is used up.', {
            retryAfter: 7,
            details: { limits: [{ limit: 'key:1' }] },
          })
        return { maxOutput: null, standings: null, settle: () => null }
      },
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await modern?.stop()
  await legacy?.stop()
})

const at = (server: string) => `${bed.origin}/${server}/mcp`
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

test.serial('admission: no key, a bad one, a missing scope, an unknown server, a foreign one, a shut one', async (t) => {
  const none = await ask(at('modern'), 'tools/list', {}, { headers: { authorization: '' } })
  t.is(none.status, 401)
  const challenge = none.headers.get('www-authenticate') ?? ''
  t.regex(challenge, /scope="mcp\.invoke"/)
  t.regex(challenge, /resource_metadata="http:\/\/127\.0\.0\.1:\d+\/\.well-known\/oauth-protected-resource\/modern\/mcp"/)
  t.is((await ask(at('modern'), 'tools/list', {}, { headers: bearer('gh-nobody') })).status, 401)

  const scopeless = await ask(at('modern'), 'tools/list', {}, { headers: bearer(noScope) })
  t.is(scopeless.status, 403)
  t.regex(scopeless.headers.get('www-authenticate') ?? '', /error="insufficient_scope", scope="mcp\.invoke"/)

  const unknown = await ask(at('nowhere'), 'tools/list')
  const ofOthers = await ask(at('modern'), 'tools/list', {}, { headers: bearer(foreign) })
  t.is(unknown.status, 404)
  t.is(ofOthers.status, 404)
  t.deepEqual(ofOthers.messages, unknown.messages)

  t.is((await ask(at('modern'), 'tools/list', {}, { headers: bearer(outsider) })).status, 403)
  t.is((await ask(at('modern'), 'tools/list', {}, { headers: { origin: 'https://evil.example' } })).status, 403)
  t.is((await ask(`${bed.origin}/ws-test/modern/mcp`, 'tools/list')).status, 200)
})

for (const server of ['modern', 'legacy'])
  test.serial(`rights at a ${server} server: what is not allowed is in no list, and a call says why`, async (t) => {
    const listed = await ask(at(server), 'tools/list')
    t.deepEqual(
      listed.messages[0]?.result?.['tools'].map((tool: { name: string }) => tool.name),
      ['echo', 'wait', 'greet'],
    )
    t.like(listed.messages[0]?.result, { resultType: 'complete', cacheScope: 'private' })
    t.is(typeof listed.messages[0]?.result?.['ttlMs'], 'number')
    for (const [name, reason] of [
      ['fail', 'tool_not_allowed'],
      ['count', 'tool_held'],
    ]) {
      const called = await ask(at(server), 'tools/call', { name, arguments: {} })
      t.is(called.messages[0]?.error?.code, -32602)
      t.is(called.messages[0]?.error?.data?.['reason'], reason)
      const session = await begin(at(server))
      const old = await post(at(server), { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name, arguments: {} } }, session)
      t.is(old.status, 200)
      t.like(old.messages[0], { id: 5, error: { code: -32602, data: { reason } } })
    }
  })

test.serial('bad messages name their fault, and none is a 5xx', async (t) => {
  const good = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { text: 'a' }, _meta: envelope() } }
  const headers = modernHeaders(good)
  const rows: readonly [what: string, body: unknown, headers: Record<string, string>, status: number, code: number][] = [
    ['no JSON', '{"jsonrpc":', headers, 400, -32700],
    ['a text', '"hello"', headers, 400, -32600],
    ['no version of JSON-RPC', { id: 1, method: 'tools/list' }, headers, 400, -32600],
    ['an id that is an object', { ...good, id: {} }, headers, 400, -32600],
    ['params in a list', { ...good, params: [1] }, headers, 400, -32600],
    ['an empty batch', [], headers, 400, -32600],
    ['a key that reaches a prototype', '{"jsonrpc":"2.0","id":1,"method":"a","params":{"__proto__":{}}}', headers, 400, -32700],
    ['another method in the header', good, { ...headers, 'mcp-method': 'tools/list' }, 400, -32020],
    ['no method in the header', good, { 'mcp-protocol-version': '2026-07-28', 'mcp-name': 'echo' }, 400, -32020],
    ['no version in the header', good, { 'mcp-method': 'tools/call', 'mcp-name': 'echo' }, 400, -32020],
    ['another name in the header', good, { ...headers, 'mcp-name': 'fail' }, 400, -32020],
    ['no name in the header', good, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' }, 400, -32020],
    ['a broken wrapping', good, { ...headers, 'mcp-name': '=?base64?!!?=' }, 400, -32020],
    ['no envelope', { ...good, params: { name: 'echo' } }, headers, 400, -32602],
    [
      'no capabilities',
      { ...good, params: { name: 'echo', _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } } },
      headers,
      400,
      -32602,
    ],
    [
      'a version to come',
      { ...good, params: { name: 'echo', _meta: envelope({}, '2099-01-01') } },
      { ...headers, 'mcp-protocol-version': '2099-01-01' },
      400,
      -32022,
    ],
    ['an unknown method', { ...good, method: 'tools/destroy' }, { ...headers, 'mcp-method': 'tools/destroy' }, 404, -32601],
    ['a ping, which is gone', { ...good, method: 'ping' }, { ...headers, 'mcp-method': 'ping' }, 404, -32601],
    ['a forged state', { ...good, params: { ...good.params, requestState: 'gh1.AAAA' } }, headers, 200, -32602],
    ['an unknown session', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { 'mcp-session-id': 'gh1.forged' }, 404, -32001],
    ['a version of no revision', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { 'mcp-protocol-version': '1999-01-01' }, 400, -32022],
    [
      'no subscription filter',
      { ...good, method: 'subscriptions/listen', params: { _meta: envelope() } },
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
      400,
      -32602,
    ],
  ]
  for (const [what, body, sent, status, code] of rows) {
    const answer = await post(at('modern'), body, sent)
    t.is(answer.status, status, what)
    t.is(answer.messages[0]?.error?.code, code, what)
  }
  t.is((await post(at('modern'), good, { ...headers, 'content-type': 'text/plain' })).status, 415)
  t.is((await post(at('modern'), JSON.stringify({ ...good, pad: 'x'.repeat(5 * 1024 * 1024) }), headers)).status, 413)
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const answer = await fetch(at('modern'), { method, headers: bearer(workspaceKey) })
    t.is(answer.status, 405, method)
    t.is(answer.headers.get('allow'), 'POST')
  }
})

test.serial('a limit is 429 with the time to wait, and the id of the limit', async (t) => {
  isLimited = true
  const refused = await ask(at('modern'), 'tools/call', { name: 'echo', arguments: { text: 'a' } })
  isLimited = false
  t.is(refused.status, 429)
  t.is(refused.headers.get('retry-after'), '7')
  t.like(refused.messages[0], { id: 1, error: { data: { code: 'rate_limited', limits: [{ limit: 'key:1' }] } } })
})

test.serial('each call has one log, with both revisions, and no secret goes either way', async (t) => {
  const before = bed.logged.length
  await ask(
    at('legacy'),
    'tools/call',
    { name: 'echo', arguments: { text: 'to be logged' } },
    { headers: { 'x-service-trace-id': 'mine' } },
  )
  const [entry] = bed.logged.slice(before)
  t.is(bed.logged.length, before + 1)
  t.like(entry?.record, {
    operation: 'mcp',
    providerSlug: 'legacy',
    model: 'echo',
    status: 200,
    outcome: 'complete',
    traceId: 'mine',
    spanName: 'tools/call echo',
    path: '/legacy/mcp',
    metadata: {
      mcp_method: 'tools/call',
      mcp_server: 'legacy',
      mcp_name: 'echo',
      mcp_client_revision: '2026-07-28',
      mcp_server_revision: '2025-11-25',
    },
  })
  t.regex(Buffer.from(entry?.bodies.request ?? []).toString(), /to be logged/)
  t.regex(Buffer.from(entry?.bodies.response ?? []).toString(), /to be logged/)
  t.deepEqual(bed.observed.at(-1)?.operation, 'mcp')

  await ask(at('modern'), 'tools/call', { name: 'echo', arguments: { text: 'x' } }, { headers: { 'x-service-debug': 'false' } })
  t.is(bed.logged.at(-1)?.bodies.request, null)

  const echoed = await ask(at('modern'), 'tools/call', { name: 'echo', arguments: { text: 'upstream-secret-1' } })
  t.false(echoed.text.includes('upstream-secret-1'))
  for (const { heard } of [modern, legacy]) for (const headers of heard) t.false(JSON.stringify(headers).includes(workspaceKey))
  t.true(modern.heard.slice(3).every(({ authorization }) => authorization === 'Bearer upstream-secret-1'))
})

test.serial('a session belongs to its principal and its server, and ends when its client says so', async (t) => {
  const session = await begin(at('legacy'), bearer(user))
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
  t.is((await post(at('legacy'), list, session)).status, 200)
  t.is((await post(at('legacy'), list, { ...session, ...bearer(second) })).status, 404)
  t.is((await post(at('modern'), list, session)).status, 404)
  t.is((await fetch(at('legacy'), { method: 'DELETE', headers: session })).status, 200)
  t.is((await post(at('legacy'), list, session)).status, 404)
})

test.serial('a client of 2025-03-26 sends batches, one of later revisions does not', async (t) => {
  const batch = [
    { jsonrpc: '2.0', id: 'a', method: 'tools/call', params: { name: 'echo', arguments: { text: 'one' } } },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 'b', method: 'tools/call', params: { name: 'echo', arguments: { text: 'two' } } },
  ]
  const answered = await post(at('modern'), batch)
  const answers = answered.messages.flat() as { id: string }[]
  t.deepEqual(answers.map(({ id }) => id).toSorted(), ['a', 'b'])
  t.is((await post(at('modern'), batch, { 'mcp-protocol-version': '2025-06-18' })).status, 400)
})

test.serial('a modern client answers the question of a legacy server by its next request', async (t) => {
  const capabilities = { elicitation: {} }
  const call = { name: 'greet', arguments: {} }
  const asked = (await ask(at('legacy'), 'tools/call', call, { capabilities })).messages[0]?.result
  t.is(asked?.['resultType'], 'input_required')
  const [key = ''] = Object.keys(asked?.['inputRequests'] ?? {})
  t.is(asked?.['inputRequests'][key].method, 'elicitation/create')
  const answer = {
    ...call,
    requestState: asked?.['requestState'],
    inputResponses: { [key]: { action: 'accept', content: { name: 'Ada' } } },
  }
  const stolen = await ask(at('legacy'), 'tools/call', answer, { capabilities, headers: bearer(second) })
  t.is(stolen.messages[0]?.error?.code, -32602)
  const other = await ask(at('legacy'), 'tools/call', { ...answer, arguments: { other: 1 } }, { capabilities })
  t.is(other.messages[0]?.error?.code, -32602)
  const done = await ask(at('legacy'), 'tools/call', answer, { capabilities, id: 2 })
  t.is(done.messages[0]?.result?.['content'][0].text, 'Hello Ada')
  const again = await ask(at('legacy'), 'tools/call', answer, { capabilities })
  t.is(again.messages[0]?.error?.data?.['reason'], 'call_again')
})

test.serial('a revoked key ends its streams', async (t) => {
  const session = await begin(at('legacy'), bearer(revocable))
  const stream = await fetch(at('legacy'), { headers: { ...session, accept: 'text/event-stream' } })
  t.is(stream.status, 200)
  const body = {
    jsonrpc: '2.0',
    id: 'sub',
    method: 'subscriptions/listen',
    params: { notifications: { toolsListChanged: true }, _meta: envelope() },
  }
  const listening = post(at('modern'), body, { ...modernHeaders(body), ...bearer(revocable) })
  await eventually(() => bed.gateway.mcp.streams() >= 2, 5000)
  bed.revoke(revocable)
  const [ended, rest] = await Promise.all([listening, stream.text()])
  t.is(ended.messages[0]?.method, 'notifications/subscriptions/acknowledged')
  t.like(ended.messages.at(-1), { id: 'sub', result: { resultType: 'complete' } })
  t.false(rest.includes('error'))
  t.is((await post(at('legacy'), { jsonrpc: '2.0', id: 2, method: 'tools/list' }, session)).status, 401)
})

test.serial('one caller has so many streams', async (t) => {
  const leaving = new AbortController()
  const body = {
    jsonrpc: '2.0',
    id: 's',
    method: 'subscriptions/listen',
    params: { notifications: { toolsListChanged: true }, _meta: envelope() },
  }
  const open = () =>
    fetch(at('modern'), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...modernHeaders(body),
        ...bearer(user),
      },
      body: JSON.stringify(body),
      signal: leaving.signal,
    })
  const opened = await Promise.all(Array.from({ length: 10 }, open))
  t.deepEqual([...new Set(opened.map(({ status }) => status))], [200])
  t.is((await open()).status, 429)
  leaving.abort()
  await eventually(() => bed.gateway.mcp.streams() === 0, 5000)
})

test.serial('many calls of two users at once: each answer belongs to its asker', async (t) => {
  const calls = process.env['NIGHTLY'] === '1' ? 10_000 : 500
  const askers = [
    { key: user, server: 'legacy', session: await begin(at('legacy'), bearer(user)) },
    { key: second, server: 'legacy', session: await begin(at('legacy'), bearer(second)) },
  ]
  let next = 0
  async function work(): Promise<void> {
    for (let mine = next++; mine < calls; mine = next++) {
      const asker = askers[mine % 2]
      if (asker === undefined) return
      const text = `${asker.key} ${mine}`
      const params = { name: 'echo', arguments: { text: `${mine} of ${mine % 2}` } }
      const isModern = mine % 4 < 2
      const answer = isModern
        ? await ask(at('legacy'), 'tools/call', params, { headers: bearer(asker.key), id: mine })
        : await post(at('legacy'), { jsonrpc: '2.0', id: mine, method: 'tools/call', params }, asker.session)
      const message = answer.messages.at(-1)
      if (message?.id !== mine || message.result?.['content'][0].text !== `${mine} of ${mine % 2}`) t.fail(`${text} got ${answer.text}`)
    }
  }
  await Promise.all(Array.from({ length: 16 }, work))
  t.pass()
})
