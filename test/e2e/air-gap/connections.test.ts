// What is installed reaches the hosts that it was told of, and no other.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { root } from '../../support/cli.ts'
import { openBrowser } from '../../support/oidc/browser.ts'
import { startFaultyIssuer } from '../../support/oidc/faulty-issuer.ts'
import { startFakeVault } from '../../support/secret-managers.ts'
import { startEmulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { adminKey, startGatehouse, workspaceKey } from '../../support/process.ts'

const recorder = path.join(root, 'test/support/connection-recorder.mjs')

/** What a recorded program gets, and what it did so far. */
function recording(t: ExecutionContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-connections-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'connections')
  writeFileSync(file, '')
  return {
    env: { NODE_OPTIONS: `--import=${recorder}`, CONNECTIONS: file },
    read: () => [...new Set(readFileSync(file, 'utf8').trimEnd().split('\n').filter(Boolean))].toSorted(),
  }
}

test('the recorder sees what goes out, in whatever way', async (t) => {
  const { env, read } = recording(t)
  const server = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const script = `
    import http from 'node:http'; import net from 'node:net'; import tls from 'node:tls'; import dgram from 'node:dgram'; import dns from 'node:dns'
    const quiet = (emitter) => emitter.on('error', () => {})
    quiet(http.get('http://127.0.0.1:1/')); quiet(net.connect(2, '127.0.0.1')); quiet(new net.Socket()).connect(3, '127.0.0.1'); quiet(tls.connect({ port: 4, host: '127.0.0.1' }))
    dns.lookup('a.invalid', () => {}); dns.promises.resolve4('b.invalid').catch(() => {})
    const socket = dgram.createSocket('udp4'); socket.send('x', 5, '127.0.0.1', () => socket.close())
    await fetch('http://127.0.0.1:${port}/')
    await fetch('http://c.invalid/').catch(() => {})`
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    env: { PATH: process.env['PATH'], ...env },
    timeout: 20_000,
  })
  const seen = read()
  const expected = ['connect 127.0.0.1:1', 'connect 127.0.0.1:2', 'connect 127.0.0.1:3', 'connect 127.0.0.1:4', `connect 127.0.0.1:${port}`]
  for (const line of [...expected, 'resolve a.invalid', 'resolve b.invalid', 'connect c.invalid:80', 'datagram 5:127.0.0.1'])
    t.true(seen.includes(line), line)
})

test('an installation at work connects to its database and to the provider that it was given', async (t) => {
  const { env, read } = recording(t)
  const emulator = await startEmulator()
  t.teardown(() => emulator.stop())
  const gatehouse = await startGatehouse({ env: { ...env, TRUSTED_CUSTOM_HOSTS: '127.0.0.1' } })
  t.teardown(() => gatehouse.stop())
  const call = async (at: string, key: string, body?: object) => {
    const headers = { 'x-service-api-key': key, 'content-type': 'application/json' }
    const answer = await fetch(`${gatehouse.origin}${at}`, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
    t.true(answer.ok, `${at}: ${await answer.clone().text()}`)
    return answer
  }
  await call('/v1/integrations', adminKey, {
    name: 'inside',
    slug: 'inside',
    ai_provider_id: 'openai',
    key: 'sk-of-the-inside-0000000',
    configurations: { custom_host: emulator.url },
    default_provider_slug: 'inside',
  })
  await call('/v1/chat/completions', workspaceKey, { model: '@inside/gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] })
  for (const at of ['/docs', '/openapi.json', '/v1/health', '/metrics']) await call(at, adminKey)
  // The record of the exchange has gone its whole way.
  await eventually(
    async () => ((await (await call('/v1/logs', workspaceKey)).json()) as { data: unknown[] }).data.length > 0,
    20_000,
    'the log',
  )
  await gatehouse.signal('SIGTERM')
  const { host, port } = gatehouse.database
  t.deepEqual(read(), [`connect ${host}:${port}`, `connect 127.0.0.1:${emulator.port}`].toSorted())
})

test('with sign-in by an identity provider and secrets of a manager, these two are called and nobody else', async (t) => {
  const { env, read } = recording(t)
  const [emulator, vault, login] = [await startEmulator(), await startFakeVault(), await startFaultyIssuer()]
  t.teardown(() => Promise.all([emulator.stop(), vault.stop()]))
  t.teardown(() => login.close())
  vault.put('secret/openai', { api_key: 'sk-of-the-vault-0000000' })
  const gatehouse = await startGatehouse({
    env: {
      ...env,
      PUBLIC_URL: 'https://gateway.example',
      TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
      OIDC_ISSUER: login.issuer,
      OIDC_CLIENT_ID: 'gatehouse',
      OIDC_CLIENT_SECRET: 'secret-of-the-client',
      OIDC_DOMAINS: 'acme.example',
      OIDC_AUTO_PROVISION: 'ON',
      AUTH_MODE: 'SSO',
    },
  })
  t.teardown(() => gatehouse.stop())
  const call = async (at: string, key: string, body?: object) => {
    const headers = { 'x-service-api-key': key, 'content-type': 'application/json' }
    const answer = await fetch(`${gatehouse.origin}${at}`, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
    const told = await answer.text()
    t.true(answer.ok, `${at}: ${told}`)
    return JSON.parse(told) as Record<string, unknown>
  }
  const organisation = await call('/v1/admin/organisation', adminKey)
  login.person = { sub: 'ada', email: 'ada@acme.example', email_verified: true }
  const browser = openBrowser(gatehouse.origin)
  const back = await browser.signIn(`/auth/oidc/${String(organisation['slug'])}/login`)
  t.is(back.status, 303, back.text)
  t.true(browser.cookies.has('__Host-gatehouse'))
  t.like(await call('/v1/admin/organisation/sso/test', adminKey, {}), { ok: true })
  const reference = {
    name: 'OpenAI',
    slug: 'openai-key',
    manager_type: 'hashicorp_vault',
    auth_config: { vault_auth_type: 'token', vault_addr: vault.url, vault_token: vault.rootToken },
    secret_path: 'secret/openai',
    secret_key: 'api_key',
  }
  const { id } = await call('/v1/secret-references', adminKey, reference)
  await call('/v1/integrations', adminKey, {
    name: 'inside',
    slug: 'inside',
    ai_provider_id: 'openai',
    secret_mappings: [{ target_field: 'key', secret_reference_id: id }],
    configurations: { custom_host: emulator.url },
    default_provider_slug: 'inside',
  })
  await call('/v1/chat/completions', workspaceKey, { model: '@inside/gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] })
  t.is(emulator.requests.at(-1)?.headers['authorization'], 'Bearer sk-of-the-vault-0000000')
  await gatehouse.signal('SIGTERM')
  const { host, port } = gatehouse.database
  const called = [new URL(emulator.url).host, new URL(vault.url).host, new URL(login.issuer).host, login.keysHost]
  t.deepEqual(read(), [`${host}:${port}`, ...called].map((at) => `connect ${at}`).toSorted())
})
