import type { Maker } from '../maker.ts'

/** A key with every field, a rotated one, and one that was deleted. */
export const apiKeys: Maker = async ({ client, admin, workspace, name, has }) => {
  const full = await workspace.post('/api-keys/workspace/service', {
    name: name('key'),
    description: 'With every field.',
    scopes: ['completions.write', 'logs.list', 'virtual_keys.list'],
    rate_limits: [{ type: 'requests', unit: 'rpm', value: 600 }],
    usage_limits: { type: 'cost', credit_limit: 10, alert_threshold: 8, ...(has('1.7.0') && { periodic_reset: 'monthly' }) },
    defaults: { metadata: { team: name('team') } },
    alert_emails: ['ops@example.com'],
    expires_at: '2099-01-01T00:00:00.000Z',
  })
  await workspace.put(`/api-keys/${full.id}`, { name: name('renamed key') })
  await workspace.get(`/api-keys/${full.id}`)
  await client.with(full.key).list('/virtual-keys', 0)
  const rotated = await admin.post('/api-keys/organisation/service', { name: name('rotated'), scopes: ['workspaces.list'] })
  const { key } = await admin.post(`/api-keys/${rotated.id}/rotate`)
  for (const secret of [rotated.key, key]) await client.with(secret).list('/workspaces', 1)
  const deleted = await workspace.post('/api-keys/workspace/service', { name: name('deleted'), scopes: ['logs.list'] })
  await workspace.remove(`/api-keys/${deleted.id}`)
  await admin.list('/api-keys', 3)
}
