// The next start of a budget is shown with the budget everywhere, and may be sent back.
import test from 'ava'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant

test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
})
test.after.always(() => control?.close())

type Fields = Readonly<Record<string, unknown>>

async function done(key: string, method: string, path: string, body?: Fields): Promise<Fields> {
  const { status, text, body: answered } = await control.call(key, method, path, body)
  if (status !== 200) throw new Error(`${method} ${path}: ${text}`)
  return answered
}

interface Owner {
  readonly path: string
  readonly key: () => string
  readonly make: (budget: Fields) => Promise<string>
  readonly written: (budget: unknown) => Fields
  readonly shown: (view: Fields) => Fields
}

const one = (list: unknown): Fields => (Array.isArray(list) ? list[0] : list) as Fields
/** Answers of budgets that requests do not take. */
const told = new Set(['current_usage', 'status', 'last_reset_at', 'is_threshold_alerts_sent', 'is_exhausted_alerts_sent'])
const without = (fields: Fields): Fields => Object.fromEntries(Object.entries(fields).filter(([name]) => !told.has(name)))
let made = 0

const owners: Readonly<Record<string, Owner>> = {
  'an API key': {
    path: '/api-keys/',
    key: () => acme.adminKey,
    make: async (budget) => {
      const body = { name: 'k', workspace_id: acme.workspaceId, scopes: ['completions.write'], usage_limits: budget }
      return String((await done(acme.adminKey, 'POST', '/api-keys/workspace/service', body))['id'])
    },
    written: (budget) => ({ usage_limits: budget }),
    shown: (view) => one(view['usage_limits']),
  },
  'a virtual key': {
    path: '/virtual-keys/',
    key: () => acme.workspaceKey,
    make: async (budget) => {
      const body = { name: `v${(made += 1)}`, provider: 'openai', key: 'sk', usage_limits: budget }
      return (await done(acme.workspaceKey, 'POST', '/virtual-keys', body))['data'] === undefined ? '' : `v${made}`
    },
    written: (budget) => ({ usage_limits: budget }),
    shown: (view) => one(view['usage_limits']),
  },
  'a workspace': {
    path: '/admin/workspaces/',
    key: () => acme.adminKey,
    make: async (budget) => {
      await done(acme.adminKey, 'PUT', `/admin/workspaces/${acme.workspaceId}`, { usage_limits: [budget] })
      return acme.workspaceId
    },
    written: (budget) => ({ usage_limits: [budget] }),
    shown: (view) => one(view['usage_limits']),
  },
}

const owned = async (name: string, { make }: Owner, budget: Fields): Promise<string> => {
  const id = await make(budget)
  if (name !== 'a virtual key') return id
  const { data } = await done(acme.workspaceKey, 'GET', '/virtual-keys')
  return String((data as Fields[]).find((each) => each['name'] === id)?.['slug'])
}

for (const [name, owner] of Object.entries(owners))
  for (const period of [{ periodic_reset: 'weekly' }, { periodic_reset: 'monthly' }, { periodic_reset_days: 3 }] as const)
    test.serial(`${name} with ${JSON.stringify(period)} tells when it starts again, and counts on when that is sent back`, async (t) => {
      const id = await owned(name, owner, { type: 'tokens', credit_limit: 10, ...period })
      const path = owner.path + id
      const first = owner.shown(await done(owner.key(), 'GET', path))
      const next = String(first['next_usage_reset_at'])
      t.regex(next, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      t.true(Date.parse(next) > Date.now())
      const { rows: before } = await counters(id)
      await done(owner.key(), 'PUT', path, owner.written(without(first)))
      const again = owner.shown(await done(owner.key(), 'GET', path))
      t.is(again['next_usage_reset_at'], next)
      t.deepEqual((await counters(id)).rows, before)
    })

/** The border that counts apart, as it is stored. */
const counters = (id: string) =>
  control.sql.query<{ border: string | null }>(
    `SELECT CASE WHEN l ->> 'periodic_reset' IS NULL THEN NULL ELSE l ->> 'next_usage_reset_at' END AS border
       FROM (SELECT usage_limits AS l FROM api_keys WHERE id::text = $1 UNION ALL SELECT usage_limits FROM providers WHERE slug = $1
             UNION ALL SELECT usage_limits -> 0 FROM workspaces WHERE id::text = $1) found`,
    [id],
  )

test.serial('a policy tells it too', async (t) => {
  for (const period of [{ periodic_reset: 'weekly' }, { periodic_reset: 'monthly' }, { periodic_reset_days: 3 }]) {
    const body = {
      workspace_id: acme.workspaceId,
      conditions: [{ key: 'api_key', value: '*' }],
      group_by: [{ key: 'api_key' }],
      type: 'tokens',
      credit_limit: 10,
      ...period,
    }
    const { id } = await done(acme.workspaceKey, 'POST', '/policies/usage-limits', body)
    const read = async () => {
      const view = await done(acme.workspaceKey, 'GET', `/policies/usage-limits/${String(id)}`)
      return (view['data'] ?? view) as Fields
    }
    const next = String((await read())['next_usage_reset_at'])
    t.true(Date.parse(next) > Date.now(), JSON.stringify(period))
    await done(acme.workspaceKey, 'PUT', `/policies/usage-limits/${String(id)}`, { next_usage_reset_at: next })
    t.is((await read())['next_usage_reset_at'], next)
  }
})
