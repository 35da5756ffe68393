import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import { createEgress, type EgressOptions } from '../../../src/gateway/egress/create-egress.ts'
import type { ProxySettings } from '../../../src/gateway/egress/proxies.ts'
import { loadConfig } from '../../../src/config/index.ts'
import { hasOpenssl, makeAuthority, makeCertificate } from '../../support/certificates.ts'
import { sendTo } from '../../support/egress-answer.ts'
import { startForwardProxy, type ForwardProxyOptions } from '../../support/forward-proxy.ts'
import { answering, httpAnswer, startRawServer } from '../../support/raw-server.ts'

const withOpenssl = hasOpenssl ? test : test.skip
const authority = hasOpenssl ? makeAuthority('Authority of the company') : null
if (authority !== null) setDefaultCACertificates([...getCACertificates('default'), authority.cert])
const certificate = authority === null ? null : makeCertificate(authority, 'model.test')
const proxyCertificate = authority === null ? null : makeCertificate(authority, 'proxy.test')

/** The names of this network, as Gatehouse resolves them. The proxy resolves every name to this machine. */
const addresses: Readonly<Record<string, string>> = {
  'proxy.test': '127.0.0.1',
  'model.test': '93.184.216.34',
  'inner.test': '10.1.2.3',
  'cloud.test': '169.254.169.254',
}

interface Bed {
  readonly proxy?: ForwardProxyOptions
  /** The environment, given the URL of the proxy. */
  readonly env: (url: string) => Readonly<Record<string, string>>
  readonly egress?: Partial<EgressOptions>
  /** Plain HTTP in place of TLS. */
  readonly plain?: boolean
}

/** A provider that only the proxy reaches: Gatehouse's own name server gives an address where it is not. */
async function start(t: ExecutionContext, { proxy: options = {}, env, egress: given = {}, plain = false }: Bed) {
  const tls = plain || certificate === null ? {} : { tls: { cert: certificate.cert, key: certificate.key } }
  const server = await startRawServer(answering(httpAnswer('ok')), tls)
  const proxy = await startForwardProxy(options)
  const proxies: ProxySettings | null = loadConfig(env(proxy.url)).proxies
  const egress = createEgress({
    trustedHosts: ['93.184.216.0/24'],
    connectTimeoutMs: 5000,
    resolve: async (name) => {
      const address = addresses[name]
      if (address === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
      return [{ address }]
    },
    proxies,
    ...given,
  })
  t.teardown(async () => {
    await egress.close()
    await Promise.all([server.close(), proxy.close()])
  })
  const send = async (url: string) => {
    const origin = await egress.origin(url, 'custom_host')
    return sendTo(origin, { path: '/v1/models?a=b' }).done
  }
  return { egress, proxy, server, send }
}

const withPassword = (url: string) => url.replace('://', '://me:pa%40ss@')

withOpenssl('a tunnel with credentials, TLS to the provider within it, and the connection is used again', async (t) => {
  const { proxy, server, send } = await start(t, {
    proxy: { credentials: 'me:pa@ss' },
    env: (url) => ({ HTTPS_PROXY: withPassword(url) }),
  })
  for (const _ of [1, 2]) t.is((await send(`https://model.test:${server.port}`)).body.toString(), 'ok')
  t.deepEqual(proxy.asked, [`CONNECT model.test:${server.port}`])
  t.false(server.received.join('').toLowerCase().includes('proxy-authorization'), 'the credentials of the proxy stay there')
})

withOpenssl('TLS to the proxy itself, and within it TLS to the provider', async (t) => {
  if (proxyCertificate === null) return
  const { proxy, server, send } = await start(t, {
    proxy: { certificate: proxyCertificate },
    env: (url) => ({ https_proxy: url }),
  })
  t.is((await send(`https://model.test:${server.port}`)).body.toString(), 'ok')
  t.deepEqual(proxy.asked, [`CONNECT model.test:${server.port}`])
})

test('plain HTTP is asked by whole URLs where the name itself is trusted', async (t) => {
  const { proxy, server, send } = await start(t, {
    plain: true,
    proxy: { credentials: 'me:pa@ss' },
    env: (url) => ({ HTTP_PROXY: withPassword(url), HTTPS_PROXY: 'http://127.0.0.1:1' }),
    egress: { trustedHosts: ['model.test'] },
  })
  for (const _ of [1, 2]) t.is((await send(`http://model.test:${server.port}`)).body.toString(), 'ok')
  const asked = `GET http://model.test:${server.port}/v1/models?a=b`
  t.deepEqual(proxy.asked, [asked, asked])
  t.regex(server.received[0] ?? '', new RegExp(`^GET /v1/models\\?a=b HTTP/1.1\\r\\nhost: model.test:${server.port}\\r\\n`))
  t.false(server.received.join('').includes('proxy-authorization'))
})

test('plain HTTP to a name that is not trusted itself goes to the address that was judged', async (t) => {
  const { proxy, server, send } = await start(t, { plain: true, env: (url) => ({ HTTP_PROXY: url }) })
  t.is((await send(`http://model.test:${server.port}`)).body.toString(), 'ok')
  t.deepEqual(proxy.asked, [`CONNECT 93.184.216.34:${server.port}`])
})

withOpenssl('with PROXY_NAMES=pinned the proxy is given the address, and TLS still the name', async (t) => {
  const { proxy, server, send } = await start(t, { env: (url) => ({ HTTPS_PROXY: url, PROXY_NAMES: 'pinned' }) })
  t.is((await send(`https://model.test:${server.port}`)).body.toString(), 'ok')
  t.deepEqual(proxy.asked, [`CONNECT 93.184.216.34:${server.port}`])
})

/** The proxy would open all of them. */
const refused: readonly (readonly [url: string, reason: RegExp, names?: string])[] = [
  ['https://inner.test', /inner\.test, which resolves to an address that is not allowed/],
  ['https://cloud.test', /cloud\.test, which resolves to an address that is never allowed/],
  ['https://10.1.2.3', /10\.1\.2\.3, which is not allowed/],
  ['https://169.254.169.254', /169\.254\.169\.254, which is never allowed/, 'unchecked'],
  ['https://10.1.2.3', /10\.1\.2\.3, which is not allowed/, 'unchecked'],
  ['http://anywhere.test', /with http:\/\//, 'unchecked'],
  ['https://inner.test', /inner\.test, which resolves to an address that is not allowed/, 'pinned'],
]
for (const [url, reason, names = 'checked'] of refused)
  test(`refused before the proxy is asked: ${url}, ${names}`, async (t) => {
    const { proxy, send } = await start(t, { env: (at) => ({ HTTPS_PROXY: at, HTTP_PROXY: at, PROXY_NAMES: names }) })
    const error = await t.throwsAsync(send(url))
    t.like(error, { code: 'blocked_host', param: 'custom_host' })
    t.regex(error?.message ?? '', reason)
    t.deepEqual(proxy.asked, [])
  })

withOpenssl('a name that only the proxy knows', async (t) => {
  if (authority === null) return
  const own = makeCertificate(authority, 'only-there.test')
  const server = await startRawServer(answering(httpAnswer('ok')), { tls: { cert: own.cert, key: own.key } })
  t.teardown(() => server.close())
  const checked = await start(t, { env: (url) => ({ HTTPS_PROXY: url }) })
  const { error } = await checked.send(`https://only-there.test:${server.port}`)
  t.like(error, { code: 'upstream_unreachable', message: `only-there.test could not be reached: its name is not known.` })
  const unchecked = await start(t, { env: (url) => ({ HTTPS_PROXY: url, PROXY_NAMES: 'unchecked' }) })
  t.is((await unchecked.send(`https://only-there.test:${server.port}`)).body.toString(), 'ok')
  t.true(await unchecked.egress.resolves('https://only-there.test'))
})

const failures: readonly (readonly [title: string, bed: Pick<Bed, 'proxy' | 'env'>, message: string])[] = [
  [
    'no credentials',
    { proxy: { credentials: 'me:pa@ss' }, env: (url) => ({ HTTPS_PROXY: url }) },
    'The proxy that HTTPS_PROXY names asks for other credentials: they belong into its URL, as http://user:password@host:port (407).',
  ],
  [
    'wrong credentials',
    { proxy: { credentials: 'me:other' }, env: (url) => ({ HTTPS_PROXY: withPassword(url) }) },
    'The proxy that HTTPS_PROXY names asks for other credentials: they belong into its URL, as http://user:password@host:port (407).',
  ],
  [
    'a host that the proxy does not allow',
    { proxy: { answers: 'HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno' }, env: (url) => ({ HTTPS_PROXY: url }) },
    'The proxy that HTTPS_PROXY names does not allow connections to the provider (403).',
  ],
  [
    'no HTTP',
    { proxy: { answers: 'SSH-2.0-x\r\n\r\n' }, env: (url) => ({ HTTPS_PROXY: url }) },
    'The proxy that HTTPS_PROXY names answered CONNECT with something that is not HTTP.',
  ],
  [
    'no answer',
    { proxy: { answers: '' }, env: (url) => ({ HTTPS_PROXY: url }) },
    'The proxy that HTTPS_PROXY names closed the connection without an answer.',
  ],
  [
    'endless headers',
    { proxy: { answers: `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(20_000)}` }, env: (url) => ({ HTTPS_PROXY: url }) },
    'The proxy that HTTPS_PROXY names answered CONNECT with too many headers.',
  ],
  [
    'bytes that no provider sent yet',
    { proxy: { answers: 'HTTP/1.1 200 OK\r\n\r\nx' }, env: (url) => ({ HTTPS_PROXY: url }) },
    'The proxy that HTTPS_PROXY names sent more than its answer to CONNECT.',
  ],
  [
    'nothing listens',
    { env: () => ({ HTTPS_PROXY: '127.0.0.1:1' }) },
    'The proxy that HTTPS_PROXY names could not be reached: it refused the connection.',
  ],
  [
    'an unknown name of the proxy',
    { env: () => ({ HTTPS_PROXY: 'http://nowhere.test' }) },
    'The proxy that HTTPS_PROXY names could not be reached: its name is not known.',
  ],
]
for (const [title, bed, message] of failures)
  test(`a failure names the proxy: ${title}`, async (t) => {
    const { send } = await start(t, bed)
    t.like((await send('https://model.test:4433')).error, { code: 'upstream_unreachable', message })
  })

test('a proxy for plain HTTP that asks for credentials: its 407 is no answer of the provider', async (t) => {
  const { send } = await start(t, {
    proxy: { credentials: 'me:pa@ss' },
    env: (url) => ({ HTTP_PROXY: url }),
    egress: { trustedHosts: ['model.test'] },
  })
  const { status, error } = await send('http://model.test:8080')
  t.is(status, 0)
  t.regex(error?.message ?? '', /^The proxy that HTTP_PROXY names asks for other credentials/)
})

withOpenssl('a certificate of an unknown authority is refused within the tunnel', async (t) => {
  const stranger = makeCertificate(makeAuthority('Stranger'), 'model.test')
  const server = await startRawServer(answering(httpAnswer('ok')), { tls: { cert: stranger.cert, key: stranger.key } })
  t.teardown(() => server.close())
  const { send } = await start(t, { env: (url) => ({ HTTPS_PROXY: url }) })
  const { error } = await send(`https://model.test:${server.port}`)
  t.is(error?.message, `model.test could not be reached: its TLS certificate comes from an unknown authority.`)
})

test('an exchange that is given up while the proxy is silent closes the connection to it', async (t) => {
  const silent = await startRawServer(() => {})
  t.teardown(() => silent.close())
  const { egress } = await start(t, { env: () => ({ HTTPS_PROXY: silent.origin }) })
  const sent = sendTo(await egress.origin('https://model.test', 'custom_host'))
  while (!silent.received.some((text) => text.includes('\r\n\r\n'))) await new Promise((resolve) => setImmediate(resolve))
  sent.call.abort()
  while (silent.open.size > 0) await new Promise((resolve) => setImmediate(resolve))
  t.deepEqual(sent.calls, [])
})

/** Hosts that need no proxy; the target is model.test at 127.0.0.1, port PORT, or that address itself. */
const direct: readonly (readonly [list: string, host: string, isDirect: boolean])[] = [
  ['model.test', 'model.test', true],
  ['.test', 'model.test', true],
  ['test', 'model.test', true],
  ['*.test', 'model.test', true],
  ['*', 'model.test', true],
  ['el.test', 'model.test', false],
  ['*.model.test', 'model.test', false],
  ['MODEL.TEST', 'model.test', true],
  ['other.test, model.test', 'model.test', true],
  ['other.test model.test', 'model.test', true],
  ['model.test:PORT', 'model.test', true],
  ['.test:PORT', 'model.test', true],
  ['model.test:1', 'model.test', false],
  ['127.0.0.1', '127.0.0.1', true],
  ['127.0.0.0/8', '127.0.0.1', true],
  ['127.0.0.1:PORT', '127.0.0.1', true],
  ['127.0.0.1:1', '127.0.0.1', false],
  ['10.0.0.0/8', '127.0.0.1', false],
  ['::1, fd00::/8', '[::1]', true],
  ['[::1]:PORT', '[::1]', true],
  ['', '127.0.0.1', false],
]
for (const [list, host, isDirect] of direct)
  test(`NO_PROXY=${list}: ${host} is reached ${isDirect ? 'directly' : 'by the proxy'}`, async (t) => {
    const server = await startRawServer(answering(httpAnswer('ok')), { host: host === '[::1]' ? '::1' : '127.0.0.1' })
    t.teardown(() => server.close())
    const { proxy, send } = await start(t, {
      env: (url) => ({ HTTP_PROXY: url, NO_PROXY: list.replaceAll('PORT', String(server.port)) }),
      egress: { trustedHosts: ['model.test', '127.0.0.1', '::1'], resolve: async () => [{ address: '127.0.0.1' }] },
    })
    t.is((await send(`http://${host}:${server.port}`)).body.toString(), 'ok')
    t.is(proxy.asked.length === 0, isDirect)
  })
