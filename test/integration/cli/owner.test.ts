import test from 'ava'
import { startApp, type TestApp } from '../../support/app.ts'
import { gatehouseHere } from '../../support/cli.ts'
import { send } from '../../support/http.ts'
import { environment } from '../../support/process.ts'

let app: TestApp
test.before(async () => {
  app = await startApp()
})
test.after.always(() => app?.stop())

const owner = (...args: readonly string[]) => gatehouseHere(['owner', 'create', ...args], { env: environment(app.config.database) })
const ask = async (key: string, path: string) => {
  const { status, text } = await send(`${app.baseUrl}/v1${path}`, { headers: { 'x-service-api-key': key } })
  return { status, body: JSON.parse(text) as Record<string, unknown> }
}

test('the first owner is made once, and has a key that works', async (t) => {
  const made = await owner('--email', 'Ada@Example.com', '--first-name', 'Ada', '--json')
  t.is(made.status, 0, made.stderr)
  const { user_id, key } = JSON.parse(made.stdout) as { user_id: string; key: string }
  t.like((await ask(app.adminKey, `/admin/users/${user_id}`)).body, { email: 'ada@example.com', first_name: 'Ada', role: 'owner' })
  t.is((await ask(key, '/workspaces')).status, 200)
  t.is((await ask(key, '/admin/users')).status, 403, 'no key of a user is an organisation key')
  const again = await owner('--email', 'bob@example.com')
  t.is(again.status, 1)
  t.regex(again.stderr, /has an owner already/)
  t.like((await ask(app.adminKey, '/admin/users')).body, { total: 1 })
})

test('wrong command lines', async (t) => {
  t.is((await owner()).status, 2)
  t.is((await owner('--email', 'nobody')).status, 2)
  t.is((await owner('--email', 'a@example.com', '--organisation', 'nowhere')).status, 1)
})
