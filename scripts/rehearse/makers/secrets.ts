import type { Maker } from '../maker.ts'

/** Secret references: shared and not, tried, changed, used and deleted. No manager has to answer. */
export const secrets: Maker = async ({ admin, providerUrl, name }) => {
  const auth_config = { vault_auth_type: 'token', vault_addr: providerUrl.replace(/\/v1$/, ''), vault_token: 'a-token-of-no-vault' }
  const reference = (noun: string) => ({ name: name(noun), manager_type: 'hashicorp_vault', auth_config, secret_path: 'secret/team' })
  const { id } = await admin.post('/secret-references', reference('key in a vault'))
  await admin.post('/secret-references/test', { manager_type: 'hashicorp_vault', auth_config, secret_path: 'secret/team' })
  await admin.post(`/secret-references/${id}/test`, {})
  await admin.put(`/secret-references/${id}`, { secret_key: 'api_key', description: 'changed' })
  const deleted = await admin.post('/secret-references', reference('unused key'))
  await admin.remove(`/secret-references/${deleted.id}`)
  await admin.get(`/secret-references/${id}`)
  await admin.list('/secret-references', 1)
}
