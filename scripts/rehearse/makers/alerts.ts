import type { Maker } from '../maker.ts'

/** Receivers of alerts: of all workspaces and of one, changed, tried and deleted. */
export const alerts: Maker = async ({ admin, workspace, providerUrl, name }) => {
  const receiver = (noun: string) => ({ name: name(noun), url: `${providerUrl}/alerts` })
  const { id } = await admin.post('/alert-webhooks', receiver('pager'))
  await workspace.post('/alert-webhooks', { ...receiver('pager of one'), events: ['usage.exhausted'] })
  await admin.put(`/alert-webhooks/${id}`, { events: ['credential.expired'], rotate_secret: true })
  await admin.post(`/alert-webhooks/${id}/test`, {})
  const deleted = await admin.post('/alert-webhooks', receiver('silent'))
  await admin.remove(`/alert-webhooks/${deleted.id}`)
  await admin.get(`/alert-webhooks/${id}`)
  await admin.list('/alert-webhooks', 2)
  await admin.list('/alerts', 0)
}
