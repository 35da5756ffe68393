// A right that is withdrawn counts for the streams that are open, too.
import type { ServerResponse } from 'node:http'
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { ask, begin, post } from '../../support/mcp/raw-client.ts'
import { type ScriptedServer, startScriptedServer } from '../../support/mcp/scripted-server.ts'
import { must, storeServer } from './mcp-setup.ts'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let tenant: Tenant
let server: ScriptedServer
let key = ''
/** The open streams of changes at the server, with the addresses that each is about. */
const listening = new Map<ServerResponse, readonly string[]>()

const [kept, withdrawn] = ['test://kept', 'test://withdrawn'] as const

test.before(async () => {
  server = await startScriptedServer((asked, res) => {
    if (asked.method !== 'subscriptions/listen') return false
    const filter = asked.params?.['notifications'] as { readonly resourceSubscriptions?: readonly string[] } | undefined
    listening.set(res, filter?.resourceSubscriptions ?? [])
    res.on('close', () => listening.delete(res))
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write('data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}\n\n')
    return true
  })
  control = await startControl()
  tenant = await control.createTenant('acme')
  key = await control.createKey(tenant, { workspaceId: tenant.workspaceId, scopes: ['mcp.invoke'] })
})
test.after.always(async () => {
  await control?.close()
  await server?.stop()
})

const bearer = () => ({ authorization: `Bearer ${key}` })
const change = (uri: string): string =>
  `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } })}\n\n`

/** Resolves when the server has one stream, about these addresses alone. */
const untilHeard = (uris: readonly string[]): Promise<number> =>
  eventually(
    () => JSON.stringify([...listening.values()].map((of) => of.toSorted())) === JSON.stringify([uris]),
    10_000,
    `the server to have one stream, about ${uris.join(' and ')}`,
  )

async function stored(slug: string): Promise<string> {
  await storeServer({ control, tenant }, slug, `${server.origin}/modern/${slug}`)
  await control.refresh()
  return `${control.origin}/${slug}/mcp`
}

const withdraw = (slug: string) =>
  must({ control, tenant }, 'PUT', `/mcp-servers/${slug}/capabilities`, {
    capabilities: [{ name: withdrawn, type: 'resource', enabled: false }],
  })

test.serial('a modern stream about a resource ends when the right to it is withdrawn, and does not begin again', async (t) => {
  const url = await stored('modern')
  const wanted = { notifications: { resourceSubscriptions: [kept, withdrawn] } }
  const listened = ask(url, 'subscriptions/listen', wanted, { headers: bearer(), id: 'sub' })
  await untilHeard([kept, withdrawn])
  await withdraw('modern')
  t.like((await listened).messages.at(-1), { id: 'sub', result: { resultType: 'complete' } })
  await eventually(() => listening.size === 0, 5000, 'the stream at the server to end')
  const again = await ask(url, 'subscriptions/listen', wanted, { headers: bearer() })
  t.like(again.messages[0]?.error, { code: -32602, data: { reason: 'resource_not_allowed' } })
})

test.serial('the stream of a legacy session goes on without a resource whose right is withdrawn', async (t) => {
  const url = await stored('legacy')
  const session = await begin(url, bearer())
  const leaving = new AbortController()
  const stream = await fetch(url, { headers: { ...session, accept: 'text/event-stream' }, signal: leaving.signal })
  for (const uri of [kept, withdrawn])
    t.deepEqual(
      (await post(url, { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri } }, session)).messages[0]?.result,
      {},
    )
  await untilHeard([kept, withdrawn])
  await withdraw('legacy')
  await untilHeard([kept])
  for (const res of listening.keys()) res.write(change(withdrawn) + change(kept))
  let text = ''
  for await (const part of stream.body ?? []) {
    text += Buffer.from(part).toString()
    if (text.includes(kept)) break
  }
  t.false(text.includes(withdrawn))
  leaving.abort()
})
