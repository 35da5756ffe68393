import { azureToken } from '../../credentials/azure.ts'
import { isFields } from '../../../lib/json/fields.ts'
import { parseRecord } from '../../credentials/token-endpoint.ts'
import { secretFault } from '../fault.ts'
import type { SecretReference } from '../secret-reference.ts'
import { askManager, type ManagerDeps, refusedBy } from './ask-manager.ts'

const manager = 'Azure Key Vault'
const apiVersion = '7.4'

/** Reads a secret of Azure Key Vault. `path`: its name. */
export async function readAzureSecret({ auth, path, version }: SecretReference, deps: ManagerDeps): Promise<string> {
  const { azure_vault_url: vaultUrl = '', ...fields } = auth
  const { origin } = new URL(vaultUrl)
  const at = `/secrets/${encodeURIComponent(path)}${version === null ? '' : `/${encodeURIComponent(version)}`}?api-version=${apiVersion}`
  const mode = fields['azure_auth_mode'] === 'default' ? ownMode(deps) : (fields['azure_auth_mode'] ?? '')
  const credential = { key: null, fields: { ...fields, azure_auth_mode: mode, azure_entra_scope: scopeOf(origin) } }
  const token = await azureToken(mode, { credential, target: { origin, param: 'auth_config.azure_vault_url', services: vaults } }, deps)
  const headers = { authorization: `Bearer ${token}` }
  const { status, text } = await askManager(manager, { url: origin + at, method: 'GET', headers }, deps)
  const answer = parseRecord(text)
  if (status !== 200) throw refusedBy(manager, status, codeOf(answer?.['error']))
  const value = answer?.['value']
  if (typeof value === 'string') return value
  throw secretFault('odd', `${manager} gave an answer without a secret.`)
}

/** The identity that the platform gives: by the token of the workload where there is one. */
const ownMode = ({ workload }: ManagerDeps): string => ((workload?.azure.federatedTokenFile ?? null) === null ? 'managed' : 'workload')

const codeOf = (error: unknown): string | null =>
  isFields(error) && typeof error['code'] === 'string' && /^\w{1,64}$/.test(error['code']) ? error['code'] : null

/** The audience of each of Azure's clouds. */
const domains = ['vault.azure.net', 'vault.azure.cn', 'vault.usgovcloudapi.net'] as const

const vaults = new RegExp(String.raw`^[a-z0-9-]+\.(?:${domains.map((domain) => domain.replaceAll('.', String.raw`\.`)).join('|')})$`)

function scopeOf(origin: string): string {
  const { hostname } = new URL(origin)
  const cloud = domains.find((suffix) => hostname.endsWith(`.${suffix}`)) ?? 'vault.azure.net'
  return `https://${cloud}/.default`
}
