import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let emulator: Emulator
let acme: Tenant

test.before(async () => {
  ;[control, emulator] = await Promise.all([startControl(), startEmulator()])
  acme = await control.createTenant('acme')
  const account = { name: 'p', slug: 'p', ai_provider_id: 'openai', key: 'sk-stored', configurations: { custom_host: emulator.url } }
  const { status, text } = await control.call(acme.adminKey, 'POST', '/integrations', { ...account, default_provider_slug: 'p' })
  if (status !== 200) throw new Error(text)
})
test.after.always(async () => {
  await control?.close()
  await emulator?.stop()
})
test.beforeEach(() => emulator.reset())

type Body = Readonly<Record<string, unknown>>

async function made(body: Body): Promise<string> {
  const { status, text, body: answer } = await control.call(acme.workspaceKey, 'POST', '/configs', { name: 'c', ...body })
  if (status !== 200) throw new Error(text)
  return (answer['data'] as { slug: string }).slug
}

const seeds = (seed: number) => ({ provider: '@p', override_params: { seed } })
const chat = (key = acme.workspaceKey, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${control.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-service-api-key': key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'm', messages: [] }),
  })
const seedSent = () => emulator.requests.at(-1)?.json['seed']

test.serial('a new version counts within a second, and a deleted config is gone', async (t) => {
  const slug = await made({ config: seeds(1) })
  const header = { 'x-service-config': slug }
  await chat(acme.workspaceKey, header)
  t.is(seedSent(), 1)
  await control.call(acme.workspaceKey, 'PUT', `/configs/${slug}`, { config: seeds(2) })
  await eventually(async () => (await chat(acme.workspaceKey, header)).ok && seedSent() === 2, 1000, 'the new version')
  await control.call(acme.workspaceKey, 'DELETE', `/configs/${slug}`)
  await eventually(async () => (await chat(acme.workspaceKey, header)).status === 400, 1000, 'the end of the config')
  t.is((await chat(acme.sideKey, { 'x-service-config': await made({ config: seeds(1) }) })).status, 400)
})

/** A provider that holds each request until the test ends it. */
async function startHolder() {
  const held: ServerResponse[] = []
  const server = createServer((req, res) => {
    req.resume()
    held.push(res)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${port}/v1`, held, stop }
}

for (const stream of [false, true])
  test.serial(`an exchange keeps the config that it began with, and the next one uses the new one; stream: ${stream}`, async (t) => {
    const holder = await startHolder()
    t.teardown(() => holder.stop())
    const slow = { provider: 'openai', api_key: 'sk-of-the-config', custom_host: holder.url }
    const slug = await made({ config: { strategy: { mode: 'fallback' }, targets: [slow, seeds(1)] } })
    const ask = (more: Pick<RequestInit, 'signal'> = {}) =>
      fetch(`${control.origin}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'x-service-api-key': acme.workspaceKey, 'content-type': 'application/json', 'x-service-config': slug },
        body: JSON.stringify({ model: 'm', messages: [], stream }),
        ...more,
      })
    // A request before the new version arrives is held like the first one, and is not waited for.
    const isAnswered = () =>
      ask({ signal: AbortSignal.timeout(1000) }).then(
        ({ ok }) => ok,
        () => false,
      )
    const before = ask()
    await eventually(() => holder.held.length === 1, 10_000, 'the request at its first target')
    await control.call(acme.workspaceKey, 'PUT', `/configs/${slug}`, { config: seeds(2) })
    await eventually(async () => (await isAnswered()) && seedSent() === 2, 10_000, 'the new version')
    for (const res of holder.held) {
      if (stream) res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      res.destroy()
    }
    const answer = await before
    t.is(answer.status, 200, await answer.text())
    t.is(answer.headers.get('x-service-last-used-option-index'), 'config.targets[1]')
    t.is(seedSent(), 1)
    const id = answer.headers.get('x-service-request-id')
    const version = async () => (await control.sql.query('SELECT config_version FROM logs WHERE id = $1', [id])).rows
    await eventually(async () => (await version()).length === 1, 10_000, 'its log')
    t.deepEqual(await version(), [{ config_version: 1 }])
  })

test.serial('the list of models is that of the providers of the workspace, as they are now', async (t) => {
  const ids = async (key = acme.workspaceKey) => {
    const { body } = await control.call(key, 'GET', '/models')
    return (body['data'] as readonly { id: string }[]).map(({ id }) => id)
  }
  t.true((await ids()).includes('@p/emulated-model'))
  t.deepEqual(await ids(acme.sideKey), [])
  const enabled = { models: [{ slug: 'tuned', enabled: true, is_custom: true }] }
  t.is((await control.call(acme.adminKey, 'PUT', '/integrations/p/models', enabled)).status, 200)
  await eventually(async () => (await ids()).includes('@p/tuned'), 1000, 'the custom model')
  const other = { name: 'q', slug: 'q', ai_provider_id: 'openai', key: 'sk-q', configurations: { custom_host: emulator.url } }
  await control.call(acme.adminKey, 'POST', '/integrations', { ...other, default_provider_slug: 'q' })
  await eventually(async () => (await ids()).includes('@q/emulated-small'), 1000, 'the new provider')
})

test.serial('a config that was looked for in vain is found once it is there', async (t) => {
  const slug = 'pc-to-come'
  t.is((await chat(acme.workspaceKey, { 'x-service-config': slug })).status, 400)
  await made({ config: seeds(7), slug })
  await eventually(async () => (await chat(acme.workspaceKey, { 'x-service-config': slug })).ok, 1000, 'the new config')
})

test.serial('the default of a workspace is what its keys start from, until they have one of their own', async (t) => {
  t.is((await chat()).status, 400)
  const first = await made({ config: seeds(3), isDefault: 1 })
  await eventually(async () => (await chat()).ok, 1000, 'the default')
  t.is(seedSent(), 3)
  const second = await made({ config: seeds(4), isDefault: 1 })
  await eventually(async () => (await chat()).ok && seedSent() === 4, 1000, 'the other default')

  const { body } = await control.call(acme.adminKey, 'POST', '/api-keys/workspace/service', {
    name: 'k',
    scopes: ['completions.write'],
    workspace_id: acme.workspaceId,
    defaults: { config_id: first, allow_config_override: false },
  })
  const own = String(body['key'])
  await eventually(async () => (await chat(own)).ok && seedSent() === 3, 1000, 'the default of the key')
  t.is((await chat(own, { 'x-service-config': second })).status, 403)
  await control.call(acme.adminKey, 'PUT', `/api-keys/${String(body['id'])}`, {
    defaults: { config_id: first, allow_config_override: true },
  })
  await eventually(async () => (await chat(own, { 'x-service-config': second })).ok && seedSent() === 4, 1000, 'the override')

  await control.call(acme.workspaceKey, 'PUT', `/configs/${second}`, { isDefault: 0 })
  await eventually(async () => (await chat()).status === 400, 1000, 'the end of the default')
  t.is((await chat(acme.sideKey)).status, 400)
})

test.serial('a key that is bound takes the default of its workspace, or none', async (t) => {
  const { body } = await control.call(acme.workspaceKey, 'POST', '/api-keys/workspace/service', {
    name: 'bound',
    scopes: ['completions.write'],
    workspace_id: acme.workspaceId,
    defaults: { allow_config_override: false },
  })
  const own = String(body['key'])
  const other = await made({ config: seeds(8) })
  for (const config of [other, JSON.stringify(seeds(9)), 'pc-none']) t.is((await chat(own, { 'x-service-config': config })).status, 403)
  const first = await made({ config: seeds(10), isDefault: 1 })
  await eventually(async () => (await chat(own)).ok && seedSent() === 10, 1000, 'the default')
  t.is((await chat(own, { 'x-service-config': other })).status, 403)
  t.true((await chat(own, { 'x-service-config': first })).ok)
  await control.call(acme.workspaceKey, 'PUT', `/configs/${first}`, { isDefault: 0 })
  await eventually(async () => (await chat(own)).status === 400, 1000, 'the end of the default')
})

test.serial('an organisation may allow stored configs only', async (t) => {
  const inline = { 'x-service-config': JSON.stringify(seeds(5)) }
  t.true((await chat(acme.workspaceKey, inline)).ok)
  await control.sql.query(`UPDATE organisations SET settings = '{"block_inline_config": true}' WHERE id = $1`, [acme.organisationId])
  await eventually(async () => (await chat(acme.workspaceKey, inline)).status === 403, 1000, 'the setting')
  t.true((await chat(acme.workspaceKey, { 'x-service-config': await made({ config: seeds(6) }) })).ok)
  t.is(seedSent(), 6)
})
