import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { startApp, type TestApp } from '../../support/app.ts'
import { startEmulator, type Emulator } from '../../support/emulator/emulator.ts'

let app: TestApp
let emulator: Emulator

test.before(async () => {
  emulator = await startEmulator()
  app = await startApp()
})
test.after.always(() => Promise.all([app.stop(), emulator.stop()]))

const ask = () =>
  fetch(`${app.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': app.workspaceKey,
      'x-service-provider': 'openai',
      'x-service-custom-host': emulator.url,
      authorization: 'Bearer sk-upstream',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }] }),
  })

/** Keeps the event loop busy, as a process has it that was given more than it can do. */
async function stall(untilLogged: string): Promise<void> {
  while (!app.logged.some(({ msg }) => msg === untilLogged)) {
    const until = performance.now() + 1000
    while (performance.now() < until);
    await sleep(1)
  }
}

test('an event loop that stays late refuses new exchanges for a while, and nothing else', async (t) => {
  t.is((await ask()).status, 200)
  await stall('overloaded')
  const refused = await ask()
  t.is(refused.status, 503)
  t.like(await refused.json(), { error: { code: 'overloaded' } })
  t.truthy(refused.headers.get('retry-after'))
  t.is(refused.headers.get('connection'), 'close')
  t.is((await fetch(`${app.baseUrl}/healthz`)).status, 200)
  t.is((await fetch(`${app.baseUrl}/v1/workspaces`, { headers: { 'x-service-api-key': app.adminKey } })).status, 200)
  const metrics = await (await fetch(`${app.baseUrl}/metrics`)).text()
  t.regex(metrics, /^gateway_shed_total\{reason="event_loop"\} 1$/m)
  while (!app.logged.some(({ msg }) => msg === 'the overload is over')) await sleep(50)
  t.is((await ask()).status, 200)
})
