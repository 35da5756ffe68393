import test from 'ava'
import { makeParts } from '../../../src/features/log-exports/run.ts'
import { claim, storePart } from '../../../src/features/log-exports/claims.ts'
import { userScopes } from '../../../src/lib/access/scopes.ts'
import { recordOf, startExporting, type Exporting } from './exporting.ts'

let exporting: Exporting
test.before(async () => void (exporting = await startExporting()))
test.after.always(() => exporting.close())

const call: Exporting['control']['call'] = (...given) => exporting.control.call(...given)
const modelsIn = (file: Buffer) =>
  file
    .toString()
    .split('\n')
    .slice(0, -1)
    .toSorted((one, other) => one.localeCompare(other))

test.serial('members export nothing; managers what they see: all, or only what is their own', async (t) => {
  const { acme, control } = exporting
  const make = async (email: string, role: 'manager' | 'member') => {
    const userId = await control.createUser(acme, { email, workspaces: { [acme.workspaceId]: role } })
    return { userId, key: await control.createKey(acme, { workspaceId: acme.workspaceId, userId, scopes: userScopes }) }
  }
  const [grace, mona, ada] = [
    await make('grace@acme.example', 'manager'),
    await make('mona@acme.example', 'manager'),
    await make('ada@acme.example', 'member'),
  ]
  await exporting.ship([
    recordOf(acme, 1, { userId: grace.userId, model: 'of grace' }),
    recordOf(acme, 2, { userId: mona.userId, model: 'of mona' }),
    recordOf(acme, 3, { model: 'of a service' }),
  ])
  const wanted = { requested_data: ['ai_model'], filters: {} }
  t.is((await call(ada.key, 'POST', '/logs/exports', wanted)).status, 403)
  t.is((await call(ada.key, 'GET', '/logs/exports')).status, 403)
  t.is((await call(ada.key, 'POST', '/logs/exports/estimate', wanted)).status, 403)
  const before = await exporting.draft(wanted, grace.key)
  t.is(modelsIn(await exporting.whole(wanted, grace.key)).length, 3)
  const set = (settings: object) => call(acme.adminKey, 'PUT', '/admin/organisation', { settings })
  await set({ managersViewAllData: false })
  await control.refresh()
  t.is((await call(grace.key, 'GET', `/logs/exports/${before}`)).status, 404)
  const drafted = await call(grace.key, 'POST', '/logs/exports', wanted)
  t.is(drafted.body['total'], 1)
  t.is((await call(grace.key, 'POST', '/logs/exports/estimate', wanted)).body['rows'], 1)
  const file = await exporting.whole(wanted, grace.key)
  t.deepEqual(modelsIn(file), ['{"ai_model":"of grace"}'])
  t.is((await call(mona.key, 'GET', `/logs/exports/${String(drafted.body['id'])}`)).status, 404)
  t.is((await call(mona.key, 'GET', '/logs/exports')).body['total'], 0)
  t.is((await call(acme.workspaceKey, 'GET', `/logs/exports/${String(drafted.body['id'])}`)).status, 200)
  await set({ managersViewAllData: null, managersViewLogs: false })
  await control.refresh()
  t.is((await call(grace.key, 'POST', '/logs/exports', wanted)).status, 403)
  await set({ managersViewLogs: null })
})

test.serial('a part belongs to one process at a time; one that lost its claim stores nothing', async (t) => {
  const { acme, control } = exporting
  const { deps } = control.started
  const id = await exporting.draft({ filters: {} })
  await call(acme.workspaceKey, 'POST', `/logs/exports/${id}/start`)
  const lost = await claim(deps)
  t.is(lost?.id, id)
  t.is(await claim(deps), null)
  await control.sql.query(`UPDATE log_exports SET lease_until = now() - interval '1 s' WHERE id = $1`, [id])
  await makeParts(deps)
  const done = (await call(acme.workspaceKey, 'GET', `/logs/exports/${id}`)).body
  t.is(done['status'], 'success')
  if (lost === null) return
  const part = { bytes: Buffer.from('x'), packed: Buffer.from('x'), rows: 1, note: null, progress: { at: 0, id, window: 1 }, isLast: false }
  t.false(await storePart(deps, lost, part))
  t.deepEqual((await call(acme.workspaceKey, 'GET', `/logs/exports/${id}`)).body, done)
})
