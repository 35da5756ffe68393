import type { Maker } from '../maker.ts'

/** Rate and usage limits that no traffic reaches, with every field, changed and archived. */
export const policies: Maker = async ({ admin, workspace, has, name }) => {
  const conditions = [{ key: 'metadata.team', value: name('team') }]
  const groups = [{ key: 'api_key' }, { key: 'metadata._user' }]
  const rate = { conditions, group_by: groups, type: 'requests', unit: 'rpm', value: 100_000 }
  const usage = {
    conditions,
    group_by: groups,
    type: 'cost',
    credit_limit: 1000,
    alert_threshold: 900,
    periodic_reset: 'monthly',
    on_unpriced: 'allow',
    output_policy: 'inject',
    ...(has('1.10.0') && { next_usage_reset_at: '2099-01-01T00:00:00.000Z' }),
  }
  const spend = { conditions, group_by: groups, type: 'cost', credit_limit: 1000 }
  for (const [path, policy, draft, change] of [
    ['/policies/rate-limits', rate, rate, { name: name('renamed policy'), unit: 'rph' }],
    ['/policies/usage-limits', usage, spend, { name: name('renamed policy'), credit_limit: 2000 }],
  ] as const) {
    const { id } = await workspace.post(path, { name: name('policy'), ...policy })
    await workspace.put(`${path}/${id}`, change)
    await workspace.get(`${path}/${id}`)
    await workspace.post(`${path}/preview`, draft)
    const archived = await workspace.post(path, policy)
    await workspace.remove(`${path}/${archived.id}`)
    await workspace.get(`${path}/${archived.id}?status=archived`)
    await workspace.list(path, 1)
    await admin.list(`${path}?type=${policy.type}`, 1)
  }
}

/** A key whose limits no traffic reaches stands in the list of all limits. */
export const limitList: Maker = async ({ admin, workspace, name }) => {
  const limited = { name: name('limited'), scopes: ['logs.view'], usage_limits: { credit_limit: 1000 } }
  await workspace.post('/api-keys/workspace/service', limited)
  await admin.list(`/limits?owner_kind=api-key&search=${encodeURIComponent(name('limited'))}`, 1)
}

/** The counts of a policy: none, as no traffic meets its conditions. */
export const policyEntities: Maker = async ({ workspace, name }) => {
  const { id } = await workspace.post('/policies/usage-limits', {
    name: name('counting'),
    conditions: [{ key: 'metadata.team', value: name('counted') }],
    group_by: [{ key: 'api_key' }],
    type: 'tokens',
    credit_limit: 1_000_000,
  })
  await workspace.list(`/policies/usage-limits/${id}/entities`, 0)
  await workspace.refused(404, 'PUT', `/policies/usage-limits/${id}/entities/${name('nobody')}/reset`)
  const rate = await workspace.post('/policies/rate-limits', {
    name: name('pacing'),
    conditions: [{ key: 'metadata.team', value: name('counted') }],
    group_by: [{ key: 'api_key' }],
    type: 'requests',
    unit: 'rpm',
    value: 100_000,
  })
  await workspace.list(`/policies/rate-limits/${rate.id}/entities`, 0)
}
