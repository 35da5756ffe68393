import test from 'ava'
import { createEgress } from '../../../src/gateway/egress/create-egress.ts'
import { resultOf } from '../../../src/gateway/mcp/protocol/faults.ts'
import type { RpcCall } from '../../../src/gateway/mcp/protocol/messages.ts'
import { createUpstream, type McpUpstream } from '../../../src/gateway/mcp/upstream/upstream.ts'
import type { Questions, UpstreamPeer, UpstreamRequest } from '../../../src/gateway/mcp/upstream/upstream-request.ts'
import { eventually } from '../../support/eventually.ts'
import { type LegacyReference, startLegacyServer } from '../../support/mcp/legacy-server.ts'
import { type ReferenceServer, startModernServer } from '../../support/mcp/modern-server.ts'

let modern: ReferenceServer
let legacy: LegacyReference
let upstream: McpUpstream
const egress = createEgress({ trustedHosts: ['127.0.0.1'], connectTimeoutMs: 2000 })

test.before(async () => {
  modern = await startModernServer()
  legacy = await startLegacyServer()
  upstream = createUpstream({
    egress,
    bounds: { idleMs: 5000, totalMs: 10_000, resultBytes: 1024 * 1024 },
    sessions: { most: 10, idleMs: 60_000 },
    now: Date.now,
  })
})
test.after.always(async () => {
  await upstream?.close()
  await modern?.stop()
  await legacy?.stop()
  await egress.close()
})

const signal = new AbortController().signal
const peerOf = (url: string, transport: 'http' | 'sse' = 'http'): UpstreamPeer => ({
  server: { id: url, organisationId: 'o', url, transport, headers: ['authorization', 'Bearer upstream'] },
  principal: 'someone',
  client: { capabilities: { elicitation: {} }, info: { name: 'test', version: '1' } },
})
const request = (method: string, params: RpcCall['params'] = {}, more: Partial<UpstreamRequest> = {}): UpstreamRequest => ({
  method,
  params,
  logLevel: null,
  paramHeaders: [],
  signal,
  notify() {},
  ask: null,
  ...more,
})
const textOf = (result: object): unknown => (result as { content: { text: string }[] }).content[0]?.text

const kinds = { modern: () => peerOf(modern.url), legacy: () => peerOf(legacy.url), events: () => peerOf(legacy.sseUrl, 'sse') }

for (const [kind, peer] of Object.entries(kinds)) {
  test.serial(`a ${kind} server: facts, lists, a call, progress, questions, changes`, async (t) => {
    const link = await upstream.link(peer(), signal)
    t.is(link.facts.era, kind === 'modern' ? 'modern' : 'legacy')
    t.is(link.facts.instructions, 'Be kind.')
    t.deepEqual(
      (await upstream.listAll(peer().server, 'tools', signal)).map((tool) => tool['name']),
      ['echo', 'fail', 'count', 'wait', 'greet'],
    )
    const echoed = resultOf(await link.request(request('tools/call', { name: 'echo', arguments: { text: 'ä' } })))
    t.is(textOf(echoed), 'ä')

    const told: RpcCall[] = []
    const params = { name: 'count', arguments: { to: 3 }, _meta: { progressToken: 'mine' } }
    await link.request(request('tools/call', params, { notify: (call) => void told.push(call) }))
    t.deepEqual(
      told.map((call) => [call.params['progressToken'], call.params['progress']]),
      [
        ['mine', 1],
        ['mine', 2],
        ['mine', 3],
      ],
    )

    const asked: Questions[] = []
    const ask = async (questions: Questions) => {
      asked.push(questions)
      return Object.fromEntries(Object.keys(questions).map((key) => [key, { action: 'accept', content: { name: 'Ada' } }]))
    }
    t.is(textOf(resultOf(await link.request(request('tools/call', { name: 'greet', arguments: {} }, { ask })))), 'Hello Ada')
    t.is(asked.length, 1)

    const { promise: changed, resolve } = Promise.withResolvers<string>()
    const filter = { toolsListChanged: true, promptsListChanged: false, resourcesListChanged: false, resourceSubscriptions: [] }
    const stop = await link.listen({ filter, notify: ({ method }) => resolve(method), ended() {} })
    const server = kind === 'modern' ? modern : legacy
    server.changeTools()
    t.is(await changed, 'notifications/tools/list_changed')
    stop()

    const leaving = new AbortController()
    const before = server.cancelled()
    const waiting = link.request(request('tools/call', { name: 'wait', arguments: {} }, { signal: leaving.signal }))
    setImmediate(() => setTimeout(() => leaving.abort(), 50))
    await t.throwsAsync(waiting, { message: /cancelled/ })
    await eventually(() => server.cancelled() > before, 5000)
    t.true(server.heard.every((headers) => headers.authorization === 'Bearer upstream'))
  })
}

test.serial('a session is used again, and opened anew when its server forgets it', async (t) => {
  const link = await upstream.link(peerOf(legacy.url), signal)
  const before = legacy.sessions()
  for (const text of ['a', 'b'])
    t.is(textOf(resultOf(await link.request(request('tools/call', { name: 'echo', arguments: { text } })))), text)
  t.is(legacy.sessions(), before)
  legacy.forget()
  t.is(textOf(resultOf(await link.request(request('tools/call', { name: 'echo', arguments: { text: 'c' } })))), 'c')
  t.is(legacy.sessions(), 1)
})
