import type { Maker } from '../maker.ts'

/** The history of one thing, which no later write touches. */
export const audit: Maker = async ({ admin, workspace, name }) => {
  const { id } = await workspace.post('/collections', { name: name('audited') })
  await workspace.put(`/collections/${id}`, { name: name('audited again') })
  await admin.list(`/audit-logs?resource_id=${id}`, 2)
  await admin.list(`/audit-logs?resource_id=${id}&action=update&method=PUT&user_type=api_key`, 1)
}
