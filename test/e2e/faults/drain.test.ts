import test, { type ExecutionContext } from 'ava'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { askAdmin, storeProvider } from '../../support/admin.ts'
import { programFile } from '../../support/program.ts'
import { startBalancer } from '../../support/balancer.ts'
import { inDatabase, testDatabase } from '../../support/database.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { startTcpProxy } from '../../support/emulator/tcp-proxy.ts'
import { chat, exchange, failures, type Load, type Outcome, startLoad, succeeded } from '../../support/load.ts'
import { readLogged, untilLogged } from '../../support/logged.ts'
import { type Gatehouse, startGatehouse, workspaceKey } from '../../support/process.ts'
import { atNight } from '../../support/size.ts'

const provider = '@emulated'
const json = (origin: string) => chat(origin, { key: workspaceKey, provider })
const stream = (origin: string, frames: number, everyMs: number) =>
  chat(origin, { key: workspaceKey, provider, stream: { frames, everyMs } })

interface Stage {
  readonly emulator: Emulator
  readonly gatehouse: Gatehouse
}

/** A process with a provider, ended with the test. */
async function start(t: ExecutionContext, env: Readonly<Record<string, string>>): Promise<Stage> {
  const emulator = await startEmulator()
  const gatehouse = await startGatehouse({ env })
  t.teardown(async () => {
    await gatehouse.stop()
    await emulator.stop()
  })
  await storeProvider(gatehouse.origin, { slug: 'emulated', url: emulator.url })
  return { emulator, gatehouse }
}

/** Far below the graces of these tests, and enough for a start on a busy machine that is finished before it is ended. */
const endsWithinMs = 28_000
const restarts = atNight(5, 3)

/** Answers at a steady pace, streams of one second, and streams that outlast the drain delay. */
const steadyLoads = (origin: string): readonly Load[] => [
  startLoad({ clients: 8, everyMs: 40, next: () => json(origin) }),
  startLoad({ clients: 6, next: () => stream(origin, 20, 50) }),
  startLoad({ clients: 3, next: () => stream(origin, 50, 50) }),
]

/** The behaviour of a draining process, seen from outside, before its port closes. */
interface Leaving {
  readonly code: number | null
  readonly fresh: Outcome
  readonly kept: Outcome
}

async function restart(gatehouse: Gatehouse, balancer: Awaited<ReturnType<typeof startBalancer>>): Promise<Leaving> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  await exchange(json(gatehouse.origin), agent)
  const ended = gatehouse.signal('SIGTERM')
  await balancer.until(gatehouse.origin, false)
  const [fresh, kept] = await Promise.all([exchange(json(gatehouse.origin)), exchange(json(gatehouse.origin), agent)])
  agent.destroy()
  const code = await ended
  await gatehouse.restart()
  await balancer.until(gatehouse.origin, true)
  return { code, fresh, kept }
}

test(`${restarts} rolling restarts of two processes under load: no request fails, no stream is cut`, async (t) => {
  const env = { DRAIN_DELAY: '2500ms', TERMINATION_GRACE: '30s' }
  const { gatehouse: first } = await start(t, env)
  const second = await startGatehouse({ env, beside: first })
  t.teardown(() => second.stop())
  const balancer = await startBalancer([first.origin, second.origin])
  t.teardown(() => balancer.stop())
  await Promise.all([first, second].map(({ origin }) => balancer.until(origin, true)))
  const loads = steadyLoads(balancer.origin)
  t.teardown(() => Promise.all(loads.map((load) => load.stop())))
  for (let round = 0; round < restarts; round += 1) {
    const { code, fresh, kept } = await restart(round % 2 === 0 ? first : second, balancer)
    t.is(code, 0)
    for (const outcome of [fresh, kept]) {
      t.true(succeeded(outcome), 'a process that drains still answers')
      t.is(outcome.headers.connection, 'close')
    }
  }
  const outcomes = (await Promise.all(loads.map((load) => load.stop()))).flat()
  t.deepEqual(failures(outcomes), {})
  const ids = outcomes.map(({ id }) => id ?? '')
  await untilLogged(first.superuser, ids, 10_000)
  const logged = await readLogged(first.superuser, ids)
  t.deepEqual([logged.missing, logged.doubled, logged.unfinished], [[], [], []])
  const streams = outcomes.filter(({ ask }) => ask.label === 'stream').length
  t.log(`${restarts} restarts, ${outcomes.length} exchanges (${streams} streams), none failed`)
})

const thinkMs = 150

test('a client whose stream began before the drain may ask once more on its connection', async (t) => {
  const { gatehouse } = await start(t, { DRAIN_DELAY: '0', TERMINATION_GRACE: '30s' })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const begun = Promise.withResolvers<void>()
  const streaming = exchange(stream(gatehouse.origin, 20, 50), agent, begun.resolve)
  await begun.promise
  const ended = gatehouse.signal('SIGTERM')
  const streamed = await streaming
  t.true(succeeded(streamed))
  t.is(streamed.headers.connection, 'keep-alive')
  await sleep(thinkMs)
  const next = await exchange(json(gatehouse.origin), agent)
  t.true(succeeded(next), next.fault ?? next.text)
  t.is(next.headers.connection, 'close')
  t.is(await ended, 0)
})

/** Opens a stream that would run for a minute; resolves when its first bytes are here. */
async function openStream(
  origin: string,
  path = '/v1/chat/completions',
): Promise<{ readonly ended: Promise<{ text: string; whole: boolean }> }> {
  const { headers, body = '' } = stream(origin, 600, 100)
  const sent = request(`${origin}${path}`, {
    method: 'POST',
    agent: false,
    headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
  })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let text = ''
  response.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const ended = Promise.race([once(response, 'end'), once(response, 'error')]).then(() => ({ text, whole: response.complete }))
  await once(response, 'data')
  return { ended }
}

/** A signal that comes sooner after another is the same stop; a little longer than the product's own figure. */
const sameStopMs = 2_200

for (const name of ['SIGTERM', 'SIGINT'] as const) {
  test(`${name} to the whole process group, with a parent that passes it on, loses no stream`, async (t) => {
    const emulator = await startEmulator()
    const gatehouse = await startGatehouse({
      program: { folder: '.', args: ['test/support/passing-on.mjs', programFile('main')], leads: true },
      env: { TERMINATION_GRACE: '60s' },
    })
    t.teardown(async () => {
      await gatehouse.stop()
      await emulator.stop()
    })
    await storeProvider(gatehouse.origin, { slug: 'emulated', url: emulator.url })
    const begun: Promise<void>[] = []
    const streams = Array.from({ length: 20 }, () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      begun.push(promise)
      return exchange(stream(gatehouse.origin, 30, 50), false, resolve)
    })
    await Promise.all(begun)
    const { pid } = gatehouse.process
    const ended = once(gatehouse.process, 'exit')
    process.kill(-(pid ?? 0), name)
    t.deepEqual(failures(await Promise.all(streams)), {})
    t.deepEqual(await ended, [0, null])
  })
}

const secondSignal = test.macro({
  title: (_, when: string) => `a second signal ends at once: ${when}`,
  async exec(t: ExecutionContext, _when: string, env: Readonly<Record<string, string>>) {
    const { gatehouse } = await start(t, env)
    const { ended } = await openStream(gatehouse.origin)
    const exited = gatehouse.signal('SIGTERM')
    await gatehouse.printed('"draining"')
    await sleep(sameStopMs)
    const signalledAt = performance.now()
    gatehouse.process.kill('SIGTERM')
    t.is(await exited, 0)
    const tookMs = performance.now() - signalledAt
    t.true(tookMs < endsWithinMs, `${tookMs} ms`)
    const { text } = await ended
    t.regex(text, /"code":"draining"/)
    t.log(`${Math.round(tookMs)} ms`)
  },
})

test(secondSignal, 'during DRAIN_DELAY', { DRAIN_DELAY: '60s', TERMINATION_GRACE: '120s' })
test(secondSignal, 'while answers finish', { DRAIN_DELAY: '0', TERMINATION_GRACE: '60s' })

test('a stream that outlasts TERMINATION_GRACE ends with an error event, a request that waits with 503', async (t) => {
  const { gatehouse, emulator } = await start(t, { DRAIN_DELAY: '0', TERMINATION_GRACE: '1s' })
  const openai = await openStream(gatehouse.origin)
  const anthropic = await openStream(gatehouse.origin, '/v1/messages')
  const arrived = emulator.next('/chat/completions')
  const waits = exchange({ ...json(gatehouse.origin), headers: { ...json(gatehouse.origin).headers, 'x-emulate': 'hang' } })
  await arrived
  const signalledAt = performance.now()
  t.is(await gatehouse.signal('SIGTERM'), 0)
  const tookMs = performance.now() - signalledAt
  t.true(tookMs >= 950 && tookMs < 10_000, `${tookMs} ms`)
  const [chatEnd, messagesEnd, waited] = await Promise.all([openai.ended, anthropic.ended, waits])
  t.true(chatEnd.whole && messagesEnd.whole)
  t.regex(chatEnd.text, /data: \{"error":\{[^\n]*"code":"draining"[^\n]*\}\}\n\n$/)
  t.notRegex(chatEnd.text, /\[DONE\]/)
  t.regex(messagesEnd.text, /event: error\ndata: \{"type":"error"[^\n]*\n\n$/)
  t.is(waited.status, 503)
  t.is(waited.headers['retry-after'], '5')
  const rows = await inDatabase(gatehouse.superuser, (client) =>
    client.query<{ outcome: string; error_code: string }>('SELECT outcome, error_code FROM logs ORDER BY outcome DESC'),
  )
  t.deepEqual(rows.rows, [
    { outcome: 'incomplete', error_code: 'draining' },
    { outcome: 'incomplete', error_code: 'draining' },
    { outcome: 'error', error_code: 'draining' },
  ])
})

test('SIGTERM while the start waits for its database: the process ends, with code 0', async (t) => {
  const database = await testDatabase()
  t.teardown(() => database.drop())
  const proxy = await startTcpProxy(database.config)
  t.teardown(() => proxy.stop())
  proxy.cut()
  const gatehouse = await startGatehouse({ on: database, env: { DB_PORT: String(proxy.port) }, untilReady: false })
  t.teardown(() => gatehouse.stop())
  await gatehouse.printed('retryInMs')
  t.is(await endsWithin(t, gatehouse), 0)
})

test('SIGTERM while another process migrates: the process ends, with code 0, and the next start migrates', async (t) => {
  const database = await testDatabase({ empty: true })
  t.teardown(() => database.drop())
  const gatehouse = await inDatabase(database.superuser, async (other) => {
    await other.query('SELECT pg_advisory_lock(1734440040, 1)')
    const waiting = await startGatehouse({ on: database, untilReady: false })
    t.teardown(() => waiting.stop())
    await waiting.printed('another process migrates')
    t.is(await endsWithin(t, waiting), 0)
    return waiting
  })
  await gatehouse.restart()
  t.is((await askAdmin(gatehouse.origin, 'GET', '/workspaces')).status, 200)
})

test('SIGTERM in the middle of the first start: the process ends, and the next start comes up', async (t) => {
  const database = await testDatabase({ empty: true })
  t.teardown(() => database.drop())
  const gatehouse = await startGatehouse({ on: database, untilReady: false })
  t.teardown(() => gatehouse.stop())
  await gatehouse.printed('"listening"')
  t.is(await endsWithin(t, gatehouse), 0)
  await gatehouse.restart()
  t.is((await askAdmin(gatehouse.origin, 'GET', '/workspaces')).status, 200)
})

async function endsWithin(t: ExecutionContext, gatehouse: Gatehouse): Promise<number | null> {
  const signalledAt = performance.now()
  const code = await gatehouse.signal('SIGTERM')
  const tookMs = performance.now() - signalledAt
  t.true(tookMs < endsWithinMs, `${tookMs} ms`)
  t.log(`${Math.round(tookMs)} ms`)
  return code
}
