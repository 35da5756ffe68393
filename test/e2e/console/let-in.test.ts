// A person lets a program in, in a real browser: from a page of the program, over the sign-in of Gatehouse and its page, back to the program.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { assertAccessible, consoleTest as test, startConsole, type ConsoleBed } from '../../support/console.ts'
import { sendJson } from '../../support/http.ts'
import { type ProgramHost, startProgramHost } from '../../support/mcp/program-host.ts'
import { askingAddress, redeem } from '../../support/mcp/sign-in-flow.ts'

let bed: ConsoleBed
let host: ProgramHost
let program: Server
let origin: string
let issuer: string

const listening = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A port that is free now: the name of the authorization server has it. */
async function freePort(): Promise<string> {
  const server = createServer()
  const { port } = new URL(await listening(server))
  await new Promise((resolve) => server.close(resolve))
  return port
}

test.before(async () => {
  const port = await freePort()
  issuer = `http://127.0.0.1:${port}`
  host = await startProgramHost()
  bed = await startConsole({ env: { PORT: port, PUBLIC_URL: issuer, TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' } })
  program = createServer((req, res) => {
    const clientId = host.origin + '/editor.json'
    const to = issuer + askingAddress(clientId, { redirect_uri: `${origin}/callback`, resource: `${issuer}/tickets/mcp` })
    res.setHeader('content-type', 'text/html')
    res.end(req.url === '/start' ? `<a id="go" href="${to.replaceAll('&', '&amp;')}">Sign in</a>` : '<h1>Back in the program</h1>')
  })
  origin = await listening(program)
  host.serve('/editor.json', { redirect_uris: ['http://127.0.0.1/callback'], client_name: 'Editor <b>of tickets</b>' })
  const headers = { 'x-service-api-key': bed.app.workspaceKey }
  const server = { name: 'tickets', slug: 'tickets', url: `${bed.emulator.origin}/mcp`, auth_type: 'none', transport: 'http' }
  await sendJson(`${issuer}/v1/mcp-integrations`, headers, server)
  await sendJson(`${issuer}/v1/mcp-servers`, headers, {
    name: 'Tickets',
    slug: 'tickets',
    mcp_integration_id: 'tickets',
    default_access: 'allow',
  })
})
test.after.always(async () => {
  await bed?.stop()
  await host?.stop()
  program?.close()
})

/** Members may make no keys, and let no programs in, unless their organisation allows it. */
const manager = { role: 'member', places: { 'default-workspace': 'manager' } } as const

test('a link on a page of the program leads over the page of Gatehouse back to the program, with a code that is worth tokens', async (t) => {
  const { page, faults } = await bed.open(manager, { path: '/console/let-in' })
  await page.goto(`${origin}/start`)
  await page.locator('#go').click()
  await page.getByRole('heading', { name: 'Let a program use an MCP server as you?' }).waitFor()
  await page.getByText('Editor <b>of tickets</b>').waitFor()
  t.is(await page.locator('#host').textContent(), new URL(host.origin).host)
  t.is(await page.locator('#redirect').textContent(), new URL(origin).host)
  t.true(await page.locator('#loopback').isVisible())
  await assertAccessible(t, page, 'the page')
  await page.getByRole('button', { name: 'Allow', exact: true }).click()
  await page.getByRole('heading', { name: 'Back in the program' }).waitFor()
  const answered = new URL(page.url())
  t.is(answered.origin + answered.pathname, `${origin}/callback`)
  t.is(answered.searchParams.get('iss'), issuer)
  const tokens = await redeem(issuer, `${host.origin}/editor.json`, answered.searchParams.get('code') ?? '', {
    redirect_uri: `${origin}/callback`,
    resource: `${issuer}/tickets/mcp`,
  })
  t.is(tokens.status, 200, JSON.stringify(tokens.body))
  t.deepEqual(
    faults.filter((fault) => !fault.includes(origin)),
    [],
  )
})

test('a person who does not allow it is back in the program without a code', async (t) => {
  const { page } = await bed.open(manager, { path: '/console/let-in' })
  await page.goto(`${origin}/start`)
  await page.locator('#go').click()
  await page.getByRole('button', { name: 'Do not allow' }).click()
  await page.getByRole('heading', { name: 'Back in the program' }).waitFor()
  const { searchParams } = new URL(page.url())
  t.deepEqual([searchParams.get('error'), searchParams.get('code')], ['access_denied', null])
})
