import test from 'ava'
import { createEgress } from '../../../src/gateway/egress/create-egress.ts'
import type { BlockedEvent, EgressOptions } from '../../../src/gateway/egress/create-egress.ts'
import type { Egress } from '../../../src/gateway/egress/egress.ts'
import { ApiError } from '../../../src/lib/errors.ts'
import { sendTo } from '../../support/egress-answer.ts'
import { answering, httpAnswer, startRawServer } from '../../support/raw-server.ts'
import { corpusResolver, rebindingCases, ssrfCorpus } from '../../support/ssrf-corpus.ts'
import { startTraps } from '../../support/traps.ts'

const traps = await startTraps()
test.after.always(() => traps.close())
test.afterEach.always((t) => {
  t.is(traps.connections, 0, 'a trap was connected to')
})

function build(options: Partial<EgressOptions> = {}) {
  const events: BlockedEvent[] = []
  const egress = createEgress({
    trustedHosts: [],
    connectTimeoutMs: 500,
    dnsCacheMs: 0,
    resolve: corpusResolver(),
    onBlocked: (event) => events.push(event),
    ...options,
  })
  return { egress, events }
}

async function outcome(work: () => unknown): Promise<unknown> {
  try {
    return await work()
  } catch (error) {
    return error
  }
}

const toLoopback = async () => [{ address: '127.0.0.1' }]

/** The URL as it is, and pointed at the traps' port where it has none of its own. */
function variants(url: string): string[] {
  const parsed = URL.parse(url)
  if (parsed === null || parsed.port !== '' || !parsed.protocol.startsWith('http')) return [url]
  parsed.port = String(traps.port)
  return [url, parsed.href]
}

for (const { url, why } of ssrfCorpus) {
  test(`${JSON.stringify(url.slice(0, 80))} is refused (${why})`, async (t) => {
    const { egress, events } = build()
    for (const variant of variants(url)) {
      // A variant may lose the trick (a blocked port, a fragment): it passes if it reaches no trap and no private address.
      if (variant === url || !['ports of other services', 'one URL, two readings'].includes(why)) {
        const error = await outcome(() => egress.origin(variant, 'custom_host'))
        t.true(error instanceof ApiError, `${variant} was accepted`)
        t.like(error, { code: 'blocked_host', param: 'custom_host' })
        t.is(events.at(-1)?.param, 'custom_host')
      }
    }
    const small = await outcome(() => egress.exchange({ url, method: 'POST', headers: {}, body: '{}', timeoutMs: 500 }))
    t.true(small instanceof ApiError && small.code === 'blocked_host', `exchange: ${String(small)}`)
    await egress.close()
  })
}

for (const { url } of rebindingCases) {
  test(`rebinding: ${url}`, async (t) => {
    const { egress, events } = build()
    const origin = await egress.origin(url.replace('/v1', `:${traps.port}/v1`), 'custom_host')
    const { error } = await sendTo(origin).done
    t.like(error, { code: 'blocked_host', param: 'custom_host' })
    t.notRegex(error?.message ?? '', /127|169|::1/, 'the message names no address')
    t.regex(events.at(-1)?.reason ?? '', /^resolved_/)
    await egress.close()
  })
}

test('the traps work: without the guard one is connected to', async (t) => {
  const own = await startTraps()
  const { egress } = build({ trustedHosts: ['127.0.0.2', '::1'] })
  for (const host of ['127.0.0.2', '[::1]'])
    t.is((await sendTo(await egress.origin(`http://${host}:${own.port}`, 'custom_host')).done).status, 200)
  t.is(own.connections, 2)
  await egress.close()
  await own.close()
})

test('an answer that was checked is the one connected to: one look-up for one connection', async (t) => {
  let lookups = 0
  const server = await startRawServer(answering(httpAnswer('ok')))
  const { egress } = build({
    trustedHosts: ['llm.test'],
    resolve: async () => {
      lookups += 1
      return [{ address: '127.0.0.1' }]
    },
  })
  const origin = await egress.origin(`http://llm.test:${server.port}`, 'custom_host')
  const before = lookups
  t.is((await sendTo(origin).done).body.toString(), 'ok')
  t.is(lookups - before, 1)
  t.regex(server.received[0] ?? '', new RegExp(`host: llm\\.test:${server.port}\r\n`))
  await egress.close()
  await server.close()
})

test('a redirect is handed over as it is', async (t) => {
  const location = `http://127.0.0.1:${traps.port}/latest/meta-data/`
  const server = await startRawServer(answering(httpAnswer('', `Location: ${location}\r\n`, '302 Found')))
  const { egress } = build({ trustedHosts: [`127.0.0.1:${server.port}`] })
  const answer = await sendTo(await egress.origin(server.origin, 'custom_host')).done
  t.is(answer.status, 302)
  t.true(answer.rawHeaders.includes(location))
  const small = await egress.exchange({ url: server.origin, method: 'GET', headers: {}, timeoutMs: 1000 })
  t.is(small.status, 302)
  t.is(small.headers.location, location)
  await egress.close()
  await server.close()
})

test('a connection opened under a lax policy does not serve a strict one', async (t) => {
  const server = await startRawServer(answering(httpAnswer('ok')))
  const lax = build({ trustedHosts: ['llm.test'], resolve: toLoopback }).egress
  const strict = build({ resolve: toLoopback }).egress
  const url = `http://llm.test:${server.port}`
  t.is((await sendTo(await lax.origin(url, 'custom_host')).done).status, 200)
  t.true((await outcome(() => strict.origin(url, 'custom_host'))) instanceof ApiError)
  t.is(server.connections, 1)
  await Promise.all([lax.close(), strict.close()])
  await server.close()
})

test('an origin checked before is there at once, and the same', async (t) => {
  const { egress } = build()
  const url = 'https://api.example.com/v1/'
  const first = await egress.origin(url, 'custom_host')
  const second = egress.origin(url, 'custom_host')
  t.is(second, first)
  t.is(first.origin, 'https://api.example.com')
  t.is(first.basePath, '/v1')
  await egress.close()
})

const refusesBase = test.macro(async (t, url: string, expected: RegExp) => {
  const { egress } = build()
  const error = await outcome(() => egress.origin(url, 'custom_host'))
  t.regex(error instanceof ApiError ? error.message : 'accepted', expected)
  await egress.close()
})

test('a base URL with a query', refusesBase, 'https://api.example.com/v1?key=1', /^custom_host must not have a query/)
test('the message names field, host and remedy', refusesBase, 'http://0x7f.1/', /^custom_host names 127\.0\.0\.1, .*TRUSTED_CUSTOM_HOSTS/)
test('metadata has no remedy', refusesBase, 'http://169.254.169.254/', /^custom_host names 169\.254\.169\.254, which is never allowed$/)

test('a name that cannot be resolved passes the check and fails at the connection', async (t) => {
  const { egress } = build({ resolve: () => Promise.reject(Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' })) })
  const { error } = await sendTo(await egress.origin('https://nowhere.test', 'custom_host')).done
  t.like(error, { code: 'upstream_unreachable', message: 'nowhere.test could not be reached: its name is not known.' })
  await egress.close()
})

const wire = test.macro(async (t, request: { method?: string; path?: string; headers?: string[] }, message: RegExp) => {
  const server = await startRawServer(answering(httpAnswer('ok')))
  const { egress } = build({ trustedHosts: ['127.0.0.1'] })
  const { error } = await sendTo(await (egress satisfies Egress).origin(server.origin, 'custom_host'), request).done
  t.like(error, { code: 'invalid_request' })
  t.regex(error?.message ?? '', message)
  t.is(server.received.join(''), '')
  await egress.close()
  await server.close()
})

test('no absolute-form path', wire, { path: `http://127.0.0.1:${traps.port}/` }, /path must start/)
test('no CONNECT', wire, { method: 'CONNECT' }, /CONNECT/)
test('no other Host', wire, { headers: ['Host', 'other.example'] }, /Host header/)
test('no line break in a header', wire, { headers: ['x-a', 'b\r\nx-c: d'] }, /not valid HTTP/)
test('no line break in the path', wire, { path: '/\r\nx-c: d' }, /not valid HTTP/)
test('no transfer-encoding of the caller', wire, { headers: ['Transfer-Encoding', 'chunked'] }, /not valid HTTP/)
