import test from 'ava'
import { startApp } from '../../support/app.ts'
import { send } from '../../support/http.ts'
import { promtool, promtoolTest } from '../../support/promtool.ts'

const scrape = async (baseUrl: string) => (await send(`${baseUrl}/metrics`)).text

promtoolTest('promtool has nothing to say about /metrics', async (t) => {
  const app = await startApp()
  t.teardown(() => app.stop())
  const headers = { 'x-service-api-key': app.workspaceKey }
  for (const path of ['/v1/api-keys', '/v1/chat/completions', '/v1/models']) await send(app.baseUrl + path, { headers })
  await send(`${app.baseUrl}/v1/models`, { headers: { 'x-service-api-key': 'gh-unknown-key-000000000000000000000000' } })
  const { code, output } = await promtool(['check', 'metrics'], await scrape(app.baseUrl))
  t.is(output, '')
  t.is(code, 0)
})

test('/metrics tells the level in effect, the finalized one, what is pending, and whether the process is sealed', async (t) => {
  const app = await startApp({ env: { RELEASE_LEVEL: '1.11.2' } })
  t.teardown(() => app.stop())
  const text = await scrape(app.baseUrl)
  t.regex(text, /^gateway_level_info\{level="1\.11\.2",finalized="1\.\d+\.\d+"\} 1$/m)
  for (const line of ['gateway_sealed 0', 'gateway_migrations_pending 0', 'gateway_backfills_pending 0'])
    t.true(text.includes(`\n${line}\n`), line)

  const sealed = await startApp({ env: { ENCRYPTION_KEY: 'too short' } })
  t.teardown(() => sealed.stop())
  t.true((await scrape(sealed.baseUrl)).includes('\ngateway_sealed 1\n'))
})
