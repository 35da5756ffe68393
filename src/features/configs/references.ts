import type { EntityManager } from '@mikro-orm/postgresql'
import type { GatewayConfig } from '../../gateway/config/config.schema.ts'
import { unknownGuardrails } from '../references/index.ts'
import { ApiError } from '../../lib/errors.ts'
import type { ConfigEntity } from './config.entity.ts'

/** The stored guardrails that a config names, its targets' included, by slug or id. */
export function guardrailsNamedIn({ input_guardrails = [], output_guardrails = [], targets = [] }: GatewayConfig): ReadonlySet<string> {
  const named = new Set([...input_guardrails, ...output_guardrails].filter((entry) => typeof entry === 'string'))
  for (const target of targets) for (const name of guardrailsNamedIn(target)) named.add(name)
  return named
}

/** The slugs of the stored providers and virtual keys that a config names, its targets' included. */
export function providersNamedIn({
  provider,
  virtual_key: virtualKey,
  override_params: params,
  targets = [],
}: GatewayConfig): ReadonlySet<string> {
  const model = typeof params?.['model'] === 'string' ? params['model'] : null
  const named = new Set([storedSlug(provider), virtualKey?.replace(/^@/, ''), storedSlug(model)?.split('/', 1)[0]].filter((slug) => slug))
  const slugs = new Set<string>()
  for (const slug of named) if (typeof slug === 'string') slugs.add(slug)
  for (const target of targets) for (const slug of providersNamedIn(target)) slugs.add(slug)
  return slugs
}

/** `@slug` names a stored provider. */
const storedSlug = (text: string | null | undefined) => (text?.startsWith('@') === true ? text.slice(1) : undefined)

/** AB01 for a guardrail that a config names and its workspace does not have. */
export async function refuseUnknownGuardrails(em: EntityManager, row: ConfigEntity, config: GatewayConfig): Promise<void> {
  const [unknown] = await unknownGuardrails(
    em,
    row,
    [...guardrailsNamedIn(config)].map((name) => name.replace(/^@/, '')),
  )
  if (unknown === undefined) return
  const param = pathOf(config, unknown, 'config')
  throw new ApiError('AB01', `${param}: there is no guardrail "${unknown}" in this workspace or its organisation.`, { param })
}

/** Where a config names a guardrail. */
function pathOf(config: GatewayConfig, reference: string, path: string): string {
  for (const field of ['input_guardrails', 'output_guardrails'] as const) {
    const at = (config[field] ?? []).indexOf(reference)
    if (at !== -1) return `${path}.${field}[${at}]`
  }
  for (const [at, target] of (config.targets ?? []).entries())
    if (guardrailsNamedIn(target).has(reference)) return pathOf(target, reference, `${path}.targets[${at}]`)
  return path
}

interface Dependant {
  readonly kind: string
  readonly name: string
}

const dependants = `
  SELECT 'API key' AS kind, name FROM api_keys
   WHERE organisation_id = ? AND status <> 'archived' AND defaults ->> 'config_id' IN (?, ?)
  UNION ALL
  SELECT 'workspace', name FROM workspaces
   WHERE organisation_id = ? AND status <> 'archived' AND defaults ->> 'user_api_key_config' IN (?, ?)
   ORDER BY kind, name LIMIT 20`

/** AB07 naming the keys and workspaces that start from this config. */
export async function refuseWhenUsed(em: EntityManager, { id, slug, organisationId }: ConfigEntity): Promise<void> {
  const one = [organisationId, id, slug]
  const rows = await em.execute<Dependant[]>(dependants, [...one, ...one])
  if (rows.length === 0) return
  const names = rows.map(({ kind, name }) => `${kind} "${name}"`).join(', ')
  throw new ApiError('AB07', `This config is still the default of: ${names}. Give them another one first.`)
}
