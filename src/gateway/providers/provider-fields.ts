import type { z } from 'zod'
import { since, valuesSince } from '../../release/since.ts'
import { providers } from './catalog.ts'
import { secretFields } from './fields.ts'
import type { Provider } from './provider.ts'

/** Older names that callers still use: alias -> field. */
export const fieldAliases: Readonly<Record<string, string>> = {
  resource_name: 'azure_resource_name',
  deployment_id: 'azure_deployment_id',
  api_version: 'azure_api_version',
}

const rows: readonly Provider[] = Object.values(providers)

/** Every field of a provider that a config may give, in the words of the headers that carry them. */
export const providerFieldNames: ReadonlySet<string> = new Set([
  ...rows.flatMap(({ fields = {}, fieldHeaders = {} }) => Object.keys(fields).concat(Object.keys(fieldHeaders))),
  'azure_managed_client_id',
  ...Object.keys(fieldAliases),
])

/** Fields that a config may hold and that no code reads yet: the details of providers' files, batches and costs. */
export const unreadFieldNames: ReadonlySet<string> = new Set([
  'aws_bedrock_model',
  'aws_s3_bucket',
  'aws_s3_object_key',
  'azure_deployment_type',
  'azure_endpoint_name',
  'azure_model_name',
  'azure_region',
  'snowflake_account',
  'vertex_storage_bucket_name',
])

/** An item that a release brought: a field, or one value of it. */
interface ReleasedItem {
  readonly since: string
  readonly value?: string
}

/** The fields that only providers of a later release have came with the first of them. */
function broughtWithProviders(): Readonly<Record<string, ReleasedItem>> {
  const everThere = new Set(rows.flatMap(({ fields = {}, since: release }) => (release === undefined ? Object.keys(fields) : [])))
  const later = rows.flatMap(({ fields = {}, since: release }) =>
    release === undefined ? [] : Object.keys(fields).map((name): readonly [string, ReleasedItem] => [name, { since: release }]),
  )
  return Object.fromEntries(later.filter(([name]) => !everThere.has(name)))
}

/** The fields that a release brought, wherever they are given: in a config, among configurations, or by a header. */
const fieldReleases: Readonly<Partial<Record<string, ReleasedItem>>> = {
  ...broughtWithProviders(),
  anthropic_beta: { since: '1.7.3' },
  azure_entra_scope: { since: '1.11.2' },
  vertex_auth_type: { value: 'workload', since: '1.10.0' },
  vertex_skip_ptu_cost_attribution: { since: '1.8.0' },
}

/** The field of integrations and configs that leaves provisioned throughput out of the costs. */
export const skipPtuField = 'vertex_skip_ptu_cost_attribution'

/** The names of those that integrations have. */
export const broughtFields: readonly string[] = Object.keys(fieldReleases).filter(
  (name) => providerFieldNames.has(name) || name === skipPtuField,
)

interface FieldTypes {
  readonly type: z.ZodType
  /** For a field that always was a text, and of which a release brought a value. */
  readonly text: z.ZodType<string>
}

/** Marks the schema of a field with the release that brought it, or one of its values. */
export function asBrought(name: string, { type, text }: FieldTypes): z.ZodType {
  const { since: release, value } = fieldReleases[name] ?? {}
  if (release === undefined) return type
  return value === undefined ? since(release, type) : valuesSince({ [value]: release }, text)
}

/** Returns the release that brought a field, or this value of it; null: it has always been there. */
export function releaseOfField(name: string, value: string): string | null {
  const brought = fieldReleases[name]
  return brought === undefined || (brought.value !== undefined && brought.value !== value) ? null : brought.since
}

/** A field that a release brought beside one value of another, while it has always been there beside the others. */
const broughtBeside = [{ name: 'aws_region', beside: 'aws_auth_type', value: 'assumedRole', since: '1.6.0' }] as const

/** Returns the choice beside which a level does not have this field yet, though it has it beside others; null: there is none. */
export const notYetBeside = (
  name: string,
  atLeast: (release: string) => boolean,
): { readonly field: string; readonly value: string } | null =>
  broughtBeside.flatMap(({ name: later, beside: field, value, since: release }) =>
    later === name && !atLeast(release) ? [{ field, value }] : [],
  )[0] ?? null

/** A field among others, and the release that brought it beside them. */
export interface LaterBeside {
  readonly name: string
  readonly release: string
  /** The other field with its value, as a text for people. */
  readonly beside: string
}

/** Returns the first field that a level does not have beside the others; null: it has them all. */
export function laterBeside(fields: Readonly<Record<string, unknown>>, atLeast: (release: string) => boolean): LaterBeside | null {
  const isGiven = (name: string) => fields[name] !== undefined && fields[name] !== null && fields[name] !== ''
  const found = broughtBeside.find(
    ({ name, beside, value, since: release }) => fields[beside] === value && isGiven(name) && !atLeast(release),
  )
  return found === undefined ? null : { name: found.name, release: found.since, beside: `${found.beside}: ${found.value}` }
}

/** The fields of a config that hold a credential: sealed at rest, never shown. */
export const secretConfigFields: ReadonlySet<string> = new Set(['api_key', 'modal_key', ...secretFields])

/** The provider fields of a config under their present names, as the text that a credential has. */
export function providerFieldsOf(config: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const fields: Record<string, string> = {}
  for (const [name, value] of Object.entries(config)) {
    if (!providerFieldNames.has(name) || value === undefined || value === null) continue
    fields[fieldAliases[name] ?? name] = typeof value === 'string' ? value : JSON.stringify(value)
  }
  return fields
}
