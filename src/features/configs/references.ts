import type { EntityManager } from '@mikro-orm/postgresql'
import { demandNoDependants, findDependants, type Dependant } from '../../app/database/dependants.ts'
import type { Vault } from '../../app/secrets/vault.ts'
import { inlinePlugins, type Phase } from '../../gateway/ports/checks.ts'
import { configsWithin, type GatewayConfig } from '../../gateway/ports/configs.ts'
import { unusableGuardrail } from '../references/index.ts'
import { ApiError } from '../../lib/errors.ts'
import { guardrailFields } from './secrets.ts'
import type { ConfigEntity } from './config.entity.ts'

const lists = { input: 'input_guardrails', output: 'output_guardrails' } as const
const phases = ['input', 'output'] as const

/** The stored guardrails that a config names, those within it included, by slug or id. */
export const guardrailsNamedIn = (config: GatewayConfig): ReadonlySet<string> =>
  new Set(phases.flatMap((phase) => [...namedFor(phase, config)]))

/** The partners whose stored credentials the checks of a config use, those within it included. */
export const pluginsNamedIn = (config: GatewayConfig): ReadonlySet<string> =>
  new Set([
    ...guardrailFields.flatMap((name) => (config[name] ?? []).flatMap(inlinePlugins)),
    ...configsWithin(config).flatMap(([, inner]) => Array.from(pluginsNamedIn(inner))),
  ])

function namedFor(phase: Phase, config: GatewayConfig): ReadonlySet<string> {
  const named = new Set((config[lists[phase]] ?? []).filter((entry) => typeof entry === 'string'))
  for (const [, inner] of configsWithin(config)) for (const name of namedFor(phase, inner)) named.add(name)
  return named
}

/** The slugs of the stored providers and virtual keys that a config names, those within it included. */
export function providersNamedIn(config: GatewayConfig): ReadonlySet<string> {
  const { provider, virtual_key: virtualKey, override_params: params } = config
  const model = typeof params?.['model'] === 'string' ? params['model'] : null
  const named = new Set([storedSlug(provider), virtualKey?.replace(/^@/, ''), storedSlug(model)?.split('/', 1)[0]].filter((slug) => slug))
  const slugs = new Set<string>()
  for (const slug of named) if (typeof slug === 'string') slugs.add(slug)
  for (const [, inner] of configsWithin(config)) for (const slug of providersNamedIn(inner)) slugs.add(slug)
  return slugs
}

/** `@slug` names a stored provider. */
const storedSlug = (text: string | null | undefined) => (text?.startsWith('@') === true ? text.slice(1) : undefined)

/** AB01 for a guardrail that a config names and its workspace does not have, or that would never run there. */
export async function refuseUnusableGuardrails(
  em: EntityManager,
  { row, vault }: { readonly row: Pick<ConfigEntity, 'organisationId' | 'workspaceId'>; readonly vault: Vault },
  config: GatewayConfig,
): Promise<void> {
  for (const phase of phases) {
    const fault = await unusableGuardrail(em, { home: row, vault }, { phase, references: [...namedFor(phase, config)] })
    if (fault === null) continue
    const param = pathOf(config, { phase, reference: fault.reference }, 'config')
    throw new ApiError('AB01', `${param}: ${fault.why}`, { param })
  }
}

interface PhaseReference {
  readonly phase: Phase
  readonly reference: string
}

/** Returns the path at which a config names a guardrail. */
function pathOf(config: GatewayConfig, named: PhaseReference, path: string): string {
  const { phase, reference } = named
  const at = (config[lists[phase]] ?? []).indexOf(reference)
  if (at !== -1) return `${path}.${lists[phase]}[${at}]`
  for (const [place, inner] of configsWithin(config))
    if (namedFor(phase, inner).has(reference)) return pathOf(inner, named, `${path}.${place}`)
  return path
}

const dependants = `
  SELECT 'api_key', id, NULL::text, name, workspace_id FROM api_keys
   WHERE organisation_id = ? AND status <> 'archived' AND defaults ->> 'config_id' IN (?, ?)
  UNION ALL
  SELECT 'workspace', id, slug, name, id FROM workspaces
   WHERE organisation_id = ? AND status <> 'archived' AND defaults ->> 'user_api_key_config' IN (?, ?)`

/** Returns the keys and workspaces that start from a config. */
export function configDependants(em: EntityManager, { id, slug, organisationId }: ConfigEntity): Promise<Dependant[]> {
  const one = [organisationId, id, slug]
  return findDependants(em, { sql: dependants, values: [...one, ...one] })
}

/** Throws AB07 while keys or workspaces start from this config. */
export async function refuseWhenUsed(em: EntityManager, row: ConfigEntity): Promise<void> {
  demandNoDependants('config', await configDependants(em, row))
}
