import type { KeyType, RequestDefaults } from '../../gateway/ports.ts'

/** The stored defaults of a key, its workspace and its organisation for the key's requests. */
export interface DefaultsRow {
  readonly defaults: unknown
  readonly workspaceDefaults: unknown
  readonly organisationDefaults: unknown
  readonly organisationSettings?: unknown
  /** The config that is the default of the workspace. */
  readonly workspaceConfig: string | null
}

/** The columns that `requestDefaults` reads, as SQL: the default config and guardrails of a key `k`, its workspace `w` and its organisation `o`. */
export const defaultColumns = `
         k.defaults, w.defaults AS "workspaceDefaults", o.defaults AS "organisationDefaults", o.settings AS "organisationSettings",
         (SELECT c.id FROM configs c WHERE c.workspace_id = w.id AND c.is_default AND c.status = 'active') AS "workspaceConfig"`

/** Returns the defaults that requests of a key start from; null if there are none. The key's own config goes before the workspace's. */
export function requestDefaults(type: KeyType, row: DefaultsRow): RequestDefaults | null {
  const ofUsers = type === 'workspace-user' ? text(row.workspaceDefaults, 'user_api_key_config') : null
  const config = text(row.defaults, 'config_id') ?? ofUsers ?? row.workspaceConfig
  const guardrails = (name: string) => [...new Set([...texts(row.organisationDefaults, name), ...texts(row.workspaceDefaults, name)])]
  const inputGuardrails = guardrails('input_guardrails')
  const outputGuardrails = guardrails('output_guardrails')
  const configLocked = field(row.defaults, 'allow_config_override') === false
  if (config === null && !configLocked && inputGuardrails.length + outputGuardrails.length === 0) return null
  return { config, configLocked, inputGuardrails, outputGuardrails }
}

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

function text(value: unknown, name: string): string | null {
  const found = field(value, name)
  return typeof found === 'string' && found !== '' ? found : null
}

function texts(value: unknown, name: string): readonly string[] {
  const found = field(value, name)
  return Array.isArray(found) ? found.filter((entry) => typeof entry === 'string') : []
}
