import { Agent, request } from 'node:http'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { startApp } from '../../support/app.ts'
import { send } from '../../support/http.ts'

test('a drain fails readiness first, closes connections politely, and lets no request fail', async (t) => {
  const app = await startApp({ env: { DRAIN_DELAY: '300', TERMINATION_GRACE: '10s' } })
  t.teardown(() => app.stop())
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const ask = async () => {
    const sent = request(`${app.baseUrl}/readyz`, { agent })
    sent.end()
    const [answer] = await once(sent, 'response')
    answer.resume()
    await once(answer, 'end')
    return { status: answer.statusCode, connection: answer.headers.connection }
  }
  t.deepEqual(await ask(), { status: 200, connection: 'keep-alive' })
  const drained = app.app.drain()
  t.deepEqual(await ask(), { status: 503, connection: 'close' })
  const data = await send(`${app.baseUrl}/v1/chat/completions`, { method: 'POST', headers: { 'x-service-api-key': app.workspaceKey } })
  t.is(data.headers.connection, 'close')
  t.is(data.status, 400)
  await drained
  await t.throwsAsync(ask(), { code: 'ECONNREFUSED' })
})

test('a drain waits for what runs, and no longer than the grace', async (t) => {
  const app = await startApp({ env: { DRAIN_DELAY: '0', TERMINATION_GRACE: '1s' } })
  t.teardown(() => app.stop())
  const slow = request(`${app.baseUrl}/v1/api-keys/workspace/service`, {
    method: 'POST',
    headers: { 'x-service-api-key': app.adminKey, 'content-type': 'application/json', 'content-length': '200' },
  })
  slow.on('error', () => {})
  slow.write('{')
  const begun = performance.now()
  await sleep(50)
  await app.app.drain()
  const took = performance.now() - begun
  t.true(took >= 900 && took < 5000, `${took} ms`)
})

test('a second drain, now, does not wait', async (t) => {
  const app = await startApp({ env: { DRAIN_DELAY: '200', TERMINATION_GRACE: '60s' } })
  t.teardown(() => app.stop())
  const held = request(`${app.baseUrl}/v1/api-keys/workspace/service`, {
    method: 'POST',
    headers: { 'x-service-api-key': app.adminKey, 'content-type': 'application/json', 'content-length': '200' },
  })
  held.on('error', () => {})
  held.write('{')
  await sleep(50)
  const first = app.app.drain()
  const begun = performance.now()
  await app.app.drain({ now: true })
  t.true(performance.now() - begun < 5000)
  await first
})
