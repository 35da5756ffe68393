// The activity of identity providers, as the admin sees it who set up SCIM.
import test from 'ava'
import { pruneScimActivity } from '../../../src/features/scim/prune-activity.jobs.ts'
import { clientWith, groupSchema, patchOf, scimClient, userSchema } from './scim-client.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
test.before(async () => {
  control = await startControl()
})
test.after.always(() => control?.close())

interface Activity {
  readonly operation: string
  readonly resource_type: string
  readonly resource_id: string | null
  readonly resource_name: string | null
  readonly ok: boolean
  readonly status: number
  readonly scim_type: string | null
  readonly error: string | null
  readonly token_name: string
}

test('the activity tells what was written and what was refused and why, of its own organisation alone', async (t) => {
  const [tenant, stranger] = [await control.createTenant('activity'), await control.createTenant('stranger')]
  const client = await scimClient(control, tenant)
  const list = async (query = '', { adminKey }: Tenant = tenant) => {
    const { status, body, text } = await control.call(adminKey, 'GET', `/scim/activity${query}`)
    t.is(status, 200, text)
    return body as unknown as { readonly data: readonly Activity[]; readonly total: number; readonly next_cursor: string | null }
  }
  const { body: made } = await client.send('POST', '/Users', { body: { schemas: [userSchema], userName: 'bea@example.com' } })
  const id = String(made.id)
  await client.send('GET', `/Users?filter=${encodeURIComponent('userName eq "bea@example.com"')}`)
  const twice = await client.send('POST', '/Users', { body: { schemas: [userSchema], userName: 'bea@example.com' } })
  await client.send('PATCH', `/Users/${id}`, { body: patchOf({ op: 'replace', path: 'active', value: 'sk-a-token-that-came-here' }) })
  const { body: group } = await client.send('POST', '/Groups', {
    body: { schemas: [groupSchema], displayName: 'Engineers', members: [{ value: id }] },
  })
  await client.send('GET', '/Groups?filter=nonsense')
  await client.send('POST', '/Users', { body: '{' })
  await client.send('DELETE', `/Groups/${group.id}`)
  await clientWith(control.origin, 'sk-unknown').send('DELETE', `/Users/${id}`)
  const { data, total } = await list()
  t.is(total, 7)
  t.deepEqual(
    data
      .map(({ operation, resource_type, resource_name, status }) => `${operation} ${resource_type} ${resource_name} ${status}`)
      .toReversed(),
    [
      'create User bea@example.com 201',
      'create User bea@example.com 409',
      'patch User null 400',
      'create Group Engineers 201',
      'read Group null 400',
      'create User null 400',
      'delete Group null 204',
    ],
  )
  t.like(data.at(-1), { ok: true, error: null, resource_id: id, token_name: 'Identity provider' })
  t.like(data.at(-2), { ok: false, scim_type: 'uniqueness', error: twice.body.detail })
  t.false(JSON.stringify(data).includes('that-came-here'))
  t.is((await list('?failed=true')).total, 4)
  t.is((await list('?failed=false&resource_type=Group&operation=delete')).total, 1)
  const page = await list('?page_size=3')
  t.is(page.data.length, 3)
  t.is((await list(`?page_size=100&after=${page.next_cursor}`)).data.length, 4)
  t.is((await list('', stranger)).total, 0)
  t.is((await control.call(tenant.workspaceKey, 'GET', '/scim/activity')).status, 403)
})

test('the activity goes back a month and a thousand requests', async (t) => {
  const tenant = await control.createTenant('old')
  const client = await scimClient(control, tenant)
  await client.send('POST', '/Users', { body: { schemas: [userSchema], userName: 'cy@example.com' } })
  await control.sql.query(
    `INSERT INTO scim_activity (id, organisation_id, token_id, token_name, operation, resource_type, status, request_id, created_at)
     SELECT gen_random_uuid(), $1, gen_random_uuid(), 'old', 'create', 'User', 201, 'r', now() - n * interval '30 minutes' FROM generate_series(1, 1500) n`,
    [tenant.organisationId],
  )
  await pruneScimActivity.run(control.started.deps)
  const { body } = await control.call(tenant.adminKey, 'GET', '/scim/activity?page_size=1')
  t.is(body['total'], 1000)
  t.like((body['data'] as readonly object[])[0], { resource_name: 'cy@example.com' })
})
