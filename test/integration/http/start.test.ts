import test from 'ava'
import { startApp } from '../../support/app.ts'

test('an app starts, serves both planes and stops', async (t) => {
  const app = await startApp()
  t.is((await fetch(`${app.baseUrl}/v1/health`)).status, 200)
  const keys = await fetch(`${app.baseUrl}/v1/api-keys`, { headers: { 'x-service-api-key': app.adminKey } })
  t.is(keys.status, 200, await keys.text())
  const chat = await fetch(`${app.baseUrl}/v1/chat/completions`, { method: 'POST', headers: { 'x-service-api-key': app.workspaceKey } })
  t.is(chat.status, 400)
  await app.stop()
  await t.throwsAsync(fetch(`${app.baseUrl}/v1/health`))
})
