import { X509Certificate } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import test from 'ava'
import { startApp, type TestApp } from '../../support/app.ts'
import { type Certificate, hasOpenssl, makeAuthority, makeCertificate } from '../../support/certificates.ts'
import { testDatabase } from '../../support/database.ts'
import { startEmulator, type Emulator } from '../../support/emulator/emulator.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { verdictOf } from '../../support/preflight.ts'
import { freePort } from '../../../src/app/database/embedded/port.ts'
import { environment } from '../../support/process.ts'
import { startProduct } from '../../support/product-process.ts'

const tlsTest = hasOpenssl ? test.serial : test.skip
let authority: Certificate
let first: Certificate
let folder: string
let emulator: Emulator
let app: TestApp
const owner = { email: 'owner@example.com', password: 'a long enough sentence' }

test.before(async () => {
  if (!hasOpenssl) return
  authority = makeAuthority('Authority of the port')
  first = makeCertificate(authority, 'localhost', 30)
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-port-'))
  await mount(first)
  emulator = await startEmulator()
  app = await startApp({
    env: {
      TLS_CERT: join(folder, 'tls.crt'),
      TLS_KEY: join(folder, 'tls.key'),
      MANAGEMENT_PORT: '0',
      INIT_OWNER_EMAIL: owner.email,
      INIT_OWNER_PASSWORD: owner.password,
    },
  })
})
test.after.always(async () => {
  await app?.stop()
  await emulator?.stop()
  if (folder !== undefined) await rm(folder, { recursive: true })
})

let mounts = 0

/** Puts a certificate in place as a mounted Kubernetes secret changes: the files are links through a folder that is swapped at once. */
async function mount({ certFile, keyFile }: Pick<Certificate, 'certFile' | 'keyFile'>): Promise<void> {
  mounts += 1
  const data = join(folder, `..${mounts}`)
  await mkdir(data)
  await copyFile(certFile, join(data, 'tls.crt'))
  await copyFile(keyFile, join(data, 'tls.key'))
  await unlink(join(folder, '..new')).catch(() => {})
  await symlink(`..${mounts}`, join(folder, '..new'))
  await rename(join(folder, '..new'), join(folder, '..data'))
  if (mounts === 1) for (const name of ['tls.crt', 'tls.key']) await symlink(join('..data', name), join(folder, name))
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

interface AskOptions {
  /** Sent by POST, as JSON. */
  readonly body?: object
  readonly agent?: Agent
  readonly headers?: Readonly<Record<string, string>>
  readonly client?: Certificate
  readonly base?: string
}

function ask(path: string, { body, agent, headers, client, base = app.baseUrl }: AskOptions = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(`${base}${path}`, {
      agent: agent ?? false,
      ca: authority.cert,
      servername: 'localhost',
      ...(client !== undefined && { cert: client.cert, key: client.key }),
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      method: body === undefined ? 'GET' : 'POST',
    })
    sent.on('response', (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** The serial number of the certificate that a new connection sees. */
function servedSerial(base = app.baseUrl): Promise<string> {
  return new Promise((resolve, reject) => {
    const port = Number(new URL(base).port)
    const socket = connect({ host: '127.0.0.1', port, ca: authority.cert, servername: 'localhost' }, () => {
      resolve(socket.getPeerCertificate().serialNumber)
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

const readiness = async () =>
  JSON.parse((await send(`${app.managementUrl}/readyz`)).text) as { status: string; checks: { certificate?: unknown } }
const figure = async () =>
  Number(/^gateway_tls_certificate_ends_timestamp_seconds\S* (\S+)$/m.exec((await send(`${app.managementUrl}/metrics`)).text)?.[1])
/** In so many days the certificate ends, by the metrics. */
const days = async () => ((await figure()) * 1000 - Date.now()) / 86_400_000

tlsTest('both planes answer over HTTPS, and tell browsers to stay with it', async (t) => {
  const headers = {
    'x-service-api-key': app.workspaceKey,
    'x-service-provider': 'openai',
    'x-service-custom-host': emulator.url,
    authorization: 'Bearer sk-own',
  }
  for (const [path, status] of [
    ['/v1/models', 200],
    ['/v1/api-keys', 200],
    ['/readyz', 200],
    ['/docs', 200],
  ] as const) {
    const answer = await ask(path, { headers })
    t.is(answer.status, status, answer.text)
    t.is(answer.headers['strict-transport-security'], 'max-age=31536000')
  }
  t.deepEqual((await readiness()).checks.certificate, { status: 'pass' })
  const inDays = await days()
  t.true(inDays > 29 && inDays < 31)
})

tlsTest('the cookie of a session is one that browsers take from this very host alone, and no other name counts', async (t) => {
  const answer = await ask('/auth/login', { body: owner })
  t.is(answer.status, 200, answer.text)
  const [session = '', ...others] = [answer.headers['set-cookie'] ?? []].flat().map(String)
  // The demands of `__Host-`: Secure, the whole host, and no Domain.
  for (const cookie of [session, ...others])
    t.regex(cookie, /^__Host-gatehouse(?:-device)?=\S+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/)
  const [pair = ''] = session.split(';', 1)
  const me = (cookie: string) => ask('/auth/me', { headers: { cookie, 'sec-fetch-site': 'same-origin' } })
  t.is((await me(pair)).status, 200)
  t.is((await me(pair.replace('__Host-', ''))).status, 401)
})

tlsTest('plain HTTP and TLS before 1.2 are refused', async (t) => {
  await t.throwsAsync(send(`${app.baseUrl.replace('https', 'http')}/healthz`))
  const port = Number(new URL(app.baseUrl).port)
  const old = new Promise((resolve, reject) => {
    const ciphers = 'ALL:@SECLEVEL=0'
    const socket = connect(
      { host: '127.0.0.1', port, ca: authority.cert, servername: 'localhost', minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers },
      () => resolve(null),
    )
    socket.on('error', reject)
  })
  await t.throwsAsync(old)
  t.is((await ask('/healthz')).status, 200)
})

tlsTest('a certificate that changes under load is used for new connections, and no request fails', async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  t.teardown(() => agent.destroy())
  const stopping = new AbortController()
  let answered = 0
  const clients = [agent, agent, undefined, undefined].map(async (one) => {
    while (!stopping.signal.aborted) {
      t.is((await ask('/v1/health', one === undefined ? {} : { agent: one })).status, 200)
      answered += 1
    }
  })
  const next = makeCertificate(authority, 'localhost', 60)
  await mount(next)
  const { serialNumber } = new X509Certificate(next.cert)
  await eventually(async () => (await servedSerial()) === serialNumber, 30_000, 'the new certificate')
  const from = answered
  await eventually(() => answered > from + 20, 30_000, 'more answers')
  stopping.abort()
  await Promise.all(clients)
  await eventually(async () => (await days()) > 59, 10_000, 'the new figure')
})

tlsTest('files that cannot be used change nothing, and are told in the log and by /readyz', async (t) => {
  const before = await servedSerial()
  const told = async () => JSON.stringify((await readiness()).checks.certificate)
  await mount({ certFile: first.certFile, keyFile: makeCertificate(authority, 'localhost').keyFile })
  await eventually(async () => (await told()).includes('TLS_KEY is not the key of TLS_CERT'), 30_000, 'the warning')
  const broken = join(folder, 'broken.pem')
  await writeFile(broken, 'nonsense')
  await mount({ certFile: broken, keyFile: first.keyFile })
  await eventually(async () => (await told()).includes('TLS_CERT is neither PEM text'), 30_000, 'the other warning')
  t.is((await readiness()).status, 'ready')
  t.is(await servedSerial(), before)
  t.true(app.logged.some(({ msg }) => msg === 'the new certificate of the port cannot be used; the one before serves on'))
  await mount(makeCertificate(authority, 'localhost', 2))
  await eventually(async () => (await told()).includes('the certificate ends at'), 30_000, 'the end of the warning')
  t.not(await servedSerial(), before)
})

tlsTest('with TLS_CA only clients with a certificate of that authority get in', async (t) => {
  const strict = await startApp({ env: { TLS_CERT: first.cert, TLS_KEY: first.key, TLS_CA: authority.certFile } })
  t.teardown(() => strict.stop())
  const base = strict.baseUrl
  await t.throwsAsync(ask('/healthz', { base }))
  await t.throwsAsync(ask('/healthz', { base, client: makeCertificate(makeAuthority('Another'), 'client') }))
  t.is((await ask('/healthz', { base, client: makeCertificate(authority, 'client') })).status, 200)
})

const files = ({ certFile, keyFile }: Certificate) => ({ TLS_CERT: certFile, TLS_KEY: keyFile })
const verdict = (certificate: Certificate, env = {}) => verdictOf('port-certificate', { ...files(certificate), ...env })

tlsTest('preflight tells what is wrong with the certificate', async (t) => {
  t.like(await verdictOf('port-certificate', {}), { status: 'ok' })
  t.like(await verdict(first), { status: 'ok' })
  t.like(await verdict(first, { PUBLIC_URL: 'https://other.example' }), { status: 'warn' })
  t.regex((await verdict(makeCertificate(authority, 'localhost', 2))).detail, /ends on/)
  t.like(await verdict(makeCertificate(authority, 'localhost', -1)), { status: 'fail' })
  const mixed = { TLS_CERT: first.certFile, TLS_KEY: makeCertificate(authority, 'localhost').keyFile }
  t.regex((await verdictOf('settings', mixed)).detail, /TLS_KEY is not the key of TLS_CERT/)
})

tlsTest('WORKERS=2: both workers answer over HTTPS and read a new certificate', async (t) => {
  const database = await testDatabase()
  t.teardown(() => database.drop())
  const [port, managementPort] = [await freePort(), await freePort()]
  const product = startProduct({
    ...environment(database.config),
    WORKERS: '2',
    DATA_DIR: join(folder, 'data'),
    PORT: String(port),
    MANAGEMENT_PORT: String(managementPort),
    TLS_CERT: join(folder, 'tls.crt'),
    TLS_KEY: join(folder, 'tls.key'),
  })
  await product.until(/Base URL: https:/)
  const base = `https://127.0.0.1:${port}`
  const serials = async () => new Set(await Promise.all(Array.from({ length: 8 }, () => servedSerial(base))))
  const [before, ...others] = await serials()
  t.deepEqual(others, [])
  await mount(makeCertificate(authority, 'localhost'))
  await eventually(async () => !(await serials()).has(before ?? ''), 30_000, 'the new certificate of both workers')
  t.is((await ask('/readyz', { base })).status, 200)
  t.is((await send(`http://127.0.0.1:${managementPort}/readyz`)).status, 200)
  product.child.kill('SIGTERM')
  t.is(await product.exit(), 0)
})
