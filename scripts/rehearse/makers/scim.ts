import type { Maker } from '../maker.ts'

/** Tokens of an identity provider: one that stays, one that was rotated, and one that was revoked. */
export const scim: Maker = async ({ admin, name }) => {
  await admin.post('/scim/tokens', { name: name('provider') })
  const { id } = await admin.post('/scim/tokens', { name: name('rotated provider') })
  await admin.post(`/scim/tokens/${id}/rotate`, { transition_period_ms: 0 })
  const { id: revoked } = await admin.post('/scim/tokens', { name: name('revoked provider') })
  await admin.remove(`/scim/tokens/${revoked}`)
  await admin.list('/scim/tokens', 2)
  await admin.get('/scim/activity')
}

/** Groups come from an identity provider alone: the requests about them while there are none. */
export const scimGroupMapping: Maker = async ({ admin, name }) => {
  await admin.put('/admin/organisation', { settings: { group_based_user_provisioning: true } })
  await admin.get('/scim/groups')
  await admin.get('/scim/workspaces')
  await admin.get(`/scim/groups?search=${encodeURIComponent(name('group'))}`)
  await admin.refused(400, 'POST', '/scim/workspaces')
  await admin.refused(404, 'DELETE', '/scim/workspaces/00000000-0000-4000-8000-000000000000')
}
