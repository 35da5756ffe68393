import { operations, type Operation } from '../../src/gateway/operations/operations.ts'
import { operationParams } from '../../src/gateway/operations/operation-params.ts'
import { providers } from '../../src/gateway/providers/catalog.ts'
import type { Provider } from '../../src/gateway/providers/provider.ts'
import { extraFields, requiredFields } from '../../src/features/integrations/configuration-fields.ts'
import { features } from '../../src/features/index.ts'
import type { Route } from '../../src/app/route.ts'

/** Every route of the control plane below `/v1`: a later one is in here by itself. */
export const controlRoutes: readonly Route[] = features.flatMap(({ routes }) => routes.filter(({ below }) => below === undefined))

const needed: Readonly<Record<string, string>> = {
  'DELETE /integrations/:slug/models': '?slugs=taken',
  'GET /events': '?topics=changes&seconds=1',
}

/** Returns the required query, with its question mark. */
export const neededQuery = ({ method, path }: { readonly method: string; readonly path: string }): string =>
  needed[`${method} ${path}`] ?? ''

/** The catalogue, each row as its type and not as its literal. */
export const catalogue: readonly (readonly [id: string, provider: Provider])[] = Object.entries(providers)

/** A field of a provider's credential that ends up in its address. */
export interface AddressField {
  readonly providerId: string
  readonly field: string
  /** The operation whose path holds the field; null when the base URL does. */
  readonly operation: Operation | null
}

/** Every `{field}` of every address of the catalogue, once per provider, but for models, path parameters and values that follow from other fields. */
export const addressFields: readonly AddressField[] = catalogue.flatMap(([providerId, provider]) => addressFieldsOf(providerId, provider))

function addressFieldsOf(providerId: string, provider: Provider): readonly AddressField[] {
  const found = new Map<string, AddressField>()
  const isMade = (name: string): boolean => Object.hasOwn(provider.madeFields ?? {}, name)
  for (const [operation, template] of templates(provider))
    for (const field of placeholders(template).filter((name) => !isMade(name)))
      if (!found.has(field)) found.set(field, { providerId, field, operation })
  return Array.from(found.values())
}

/** Those that hold a whole URL. */
export const urlFields = addressFields.filter(({ field }) => field.endsWith('_url'))

/** Base URLs first; chat before other operations, as it can be called with the caller's own key. */
function templates({ baseUrl, variants = [], speaks }: Provider): readonly (readonly [Operation | null, string])[] {
  const bases = [baseUrl, ...variants.map((variant) => variant.baseUrl)].flatMap((template) => (template === null ? [] : [template]))
  const names = Object.keys(operations)
  const paths = speaks.toSorted((one, other) => names.indexOf(one.operation) - names.indexOf(other.operation))
  return [...bases.map((template) => [null, template] as const), ...paths.map(({ operation, path }) => [operation, path] as const)]
}

function placeholders(template: string): readonly string[] {
  return [...template.matchAll(/\{\+?([a-z0-9_|]+)\}/g)]
    .flatMap(([, names = '']) => names.split('|'))
    .filter((name) => name !== 'model' && !operationParams.has(name))
}

/** Every configuration field that a provider takes. */
export const fieldsOf = (id: string, provider: Provider): readonly string[] => [
  ...new Set([...Object.keys(provider.fields ?? {}), ...(extraFields[id] ?? []), 'custom_host']),
]

/** Values that any provider accepts for its required fields. */
export function neededFields(id: string, provider: Provider): Record<string, unknown> {
  const names = [
    ...Object.entries(provider.fields ?? {}).flatMap(([name, preset]) => (preset === null ? [name] : [])),
    ...(requiredFields[id] ?? []),
  ]
  return {
    ...Object.fromEntries(names.map((name) => [name, harmless[name] ?? 'safe-1'])),
    ...(provider.baseUrl === null && { custom_host: 'https://provider.example' }),
  }
}

const harmless: Readonly<Record<string, unknown>> = {
  azure_auth_mode: 'default',
  azure_foundry_url: 'https://foundry.example',
  azure_deployment_config: [{ azure_deployment_name: 'd', azure_api_version: '2024-10-21', azure_model_slug: 'm' }],
  aws_auth_type: 'accessKey',
  vertex_auth_type: 'basic',
}

/** A field as the header that carries it. */
export const headerOf = (field: string): string => `x-service-${field.replaceAll('_', '-')}`
