import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import { createEgress } from '../../../src/gateway/egress/create-egress.ts'
import type { EgressOptions } from '../../../src/gateway/egress/create-egress.ts'
import type { Answer } from '../../support/egress-answer.ts'
import { sendTo } from '../../support/egress-answer.ts'
import { loopLag } from '../../support/loop-lag.ts'
import type { RawScript } from '../../support/raw-server.ts'
import { onRequest, startRawServer } from '../../support/raw-server.ts'

const silent: RawScript = () => {}

async function start(t: ExecutionContext, script: RawScript, options: Partial<EgressOptions> = {}) {
  const server = await startRawServer(script)
  const egress = createEgress({ trustedHosts: ['127.0.0.1', '*.test'], connectTimeoutMs: 5000, ...options })
  t.teardown(async () => {
    await egress.close()
    await server.close()
  })
  return { server, egress, origin: await egress.origin(server.origin, 'custom_host') }
}

const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length

/** Waits for an effect without an event: sockets that the system still has to close. Fails by the test's own time limit. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(10)
}

/** Within 100 ms of the moment, and not before it; twice the lag, because the upstream lives in this process too. */
function firedAt(t: ExecutionContext, answer: Answer, ms: number, code = 'upstream_timeout'): void {
  t.like(answer.error, { code })
  t.true(answer.ms >= ms - 2 && answer.ms <= ms + 100 + 2 * loopLag(), `${answer.ms} ms instead of ${ms}`)
}

for (const ms of [300, 1500]) {
  test.serial(`first byte: ${ms} ms`, async (t) => {
    const { origin, server } = await start(t, silent)
    const answer = await sendTo(origin, { timeouts: { firstByteMs: ms, idleMs: 100 } }).done
    firedAt(t, answer, ms)
    t.is(answer.error?.message, `The provider did not answer within ${ms === 300 ? '300 ms' : '1.5 s'}.`)
    for (const socket of server.open) await once(socket, 'close')
  })
}

test.serial('first byte: a request that is never read', async (t) => {
  const { origin } = await start(t, (socket) => void socket.pause())
  const answer = await sendTo(origin, { method: 'POST', body: Buffer.alloc(32 << 20), timeouts: { firstByteMs: 400, idleMs: 100 } }).done
  firedAt(t, answer, 400)
})

test.serial('first byte: informational answers do not put it off', async (t) => {
  const { origin } = await start(t, (socket) => {
    const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 50)
    socket.once('close', () => clearInterval(timer))
  })
  const answer = await sendTo(origin, { timeouts: { firstByteMs: 400, idleMs: 100 } }).done
  firedAt(t, answer, 400)
  t.true(answer.information.length > 2)
})

test.serial('idle: silence after the headers', async (t) => {
  const { origin } = await start(
    t,
    onRequest((socket) => socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')),
  )
  const answer = await sendTo(origin, { timeouts: { firstByteMs: 5000, idleMs: 300 } }).done
  firedAt(t, answer, 300)
  t.is(answer.status, 200)
  t.is(answer.error?.message, 'The provider sent nothing for 300 ms in the middle of its answer.')
})

test.serial('idle: drips keep it alive, and the silence after the last one ends it', async (t) => {
  const { origin } = await start(
    t,
    onRequest((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      let drips = 0
      const timer = setInterval(() => {
        socket.write('1\r\n.\r\n')
        drips += 1
        if (drips === 6) clearInterval(timer)
      }, 200)
      socket.once('close', () => clearInterval(timer))
    }),
  )
  const answer = await sendTo(origin, { timeouts: { firstByteMs: 1000, idleMs: 400 } }).done
  firedAt(t, answer, 6 * 200 + 400)
  t.is(answer.body.toString(), '......')
})

test.serial('idle: the wait for a paused reader does not count', async (t) => {
  const { origin } = await start(
    t,
    onRequest((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n.')
      setTimeout(() => socket.write('.'), 600)
    }),
  )
  const sent = sendTo(origin, { timeouts: { firstByteMs: 5000, idleMs: 200 } })
  await sent.headers
  sent.call.pause()
  setTimeout(() => sent.call.resume(), 700)
  const answer = await sent.done
  t.is(answer.error, null)
  t.is(answer.body.toString(), '..')
})

test.serial('connect: a TLS handshake that is never answered', async (t) => {
  const { egress, server } = await start(t, silent, { connectTimeoutMs: 1300 })
  const origin = await egress.origin(server.origin.replace('http:', 'https:'), 'custom_host')
  const answer = await sendTo(origin).done
  firedAt(t, answer, 1300)
  t.is(answer.error?.message, 'The provider could not be connected to within 1.3 s.')
})

test.serial('connect: a name that is never answered', async (t) => {
  let asked = 0
  const never = () => {
    asked += 1
    return asked === 1 ? Promise.resolve([{ address: '127.0.0.1' }]) : new Promise<never>(() => {})
  }
  const { egress } = await start(t, silent, { connectTimeoutMs: 400, dnsCacheMs: 0, resolve: never })
  const answer = await sendTo(await egress.origin('http://slow.test', 'custom_host')).done
  t.true(answer.ms >= 398 && answer.ms < 500 + 2 * loopLag(), `${answer.ms}`)
  t.regex(answer.error?.message ?? '', /could not be (connected to within 400 ms|reached: its name could not be resolved in time)/)
})

test.serial('a slow name holds up no other', async (t) => {
  const { server, egress } = await start(
    t,
    onRequest((socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n')),
    {
      resolve: (host) => (host === 'slow.test' ? new Promise<never>(() => {}) : Promise.resolve([{ address: '127.0.0.1' }])),
    },
  )
  const slow = Array.from({ length: 50 }, () => egress.origin(`http://slow.test:${server.port}`, 'custom_host'))
  const answer = await sendTo(await egress.origin(`http://fast.test:${server.port}`, 'custom_host')).done
  t.is(answer.status, 204)
  t.true(answer.ms < 1000, `${answer.ms}`)
  t.is(slow.length, 50)
})

test.serial('waiting for a connection ends as overloaded', async (t) => {
  const { origin, server } = await start(t, silent, { maxConnectionsPerOrigin: 1 })
  const first = sendTo(origin)
  const answer = await sendTo(origin, { timeouts: { firstByteMs: 300, idleMs: 300 } }).done
  firedAt(t, answer, 300, 'overloaded')
  first.call.abort()
  t.true(server.connections <= 1)
})

test.serial('1,000 timeouts leave no socket behind', async (t) => {
  const { origin, server } = await start(t, silent)
  const before = sockets()
  for (let round = 0; round < 10; round += 1) {
    const answers = await Promise.all(Array.from({ length: 100 }, () => sendTo(origin, { timeouts: { firstByteMs: 60, idleMs: 60 } }).done))
    t.true(answers.every(({ error }) => error !== null && 'code' in error && error.code === 'upstream_timeout'))
  }
  await until(() => server.open.size === 0 && sockets() <= before)
  t.pass()
})
