import { z } from 'zod'
import type { Auth } from '../../gateway/ports/credentials.ts'
import {
  notYetBeside,
  releaseOfField,
  listPathOf,
  findProvider,
  type ProviderId,
  providers,
  labels,
  secretFields,
  type Provider,
} from '../../gateway/ports/providers.ts'
import { operations, type Operation } from '../../gateway/ports/operations.ts'
import type { CatalogueField, CatalogueRow } from './catalogue.schema.ts'
import { choices, extraFields, fieldType, requiredFields } from './configuration-fields.ts'

type AtLeast = (release: string) => boolean

/** Returns the providers that a level has, by name. */
export function catalogueAt(atLeast: AtLeast): readonly CatalogueRow[] {
  const ids = Object.keys(providers).filter(isId)
  const rows = ids.flatMap((id): CatalogueRow[] => {
    const provider = findProvider(id)
    return provider === null || isLater(provider.since ?? null, atLeast) ? [] : [presentRow(id, provider, atLeast)]
  })
  return rows.toSorted((one, other) => one.name.localeCompare(other.name, 'en'))
}

const isId = (id: string): id is ProviderId => Object.hasOwn(providers, id)

const isLater = (release: string | null, atLeast: AtLeast): boolean => release !== null && !atLeast(release)

function presentRow(id: ProviderId, provider: Provider, atLeast: AtLeast): CatalogueRow {
  const { name, docs, keys = null } = labels[id]
  return {
    id,
    name,
    api: provider.api,
    base_url: provider.baseUrl,
    auth: provider.auth.kind,
    key: keyOf(provider.auth),
    fields: fieldsOf(id, provider, atLeast),
    operations: provider.speaks.map(({ operation, dialect }) => ({ operation, path: pathOf(operation), dialect })),
    formats: (provider.offers ?? []).map(({ task, dialect, streamPath }) => ({ task, dialect, streams: streamPath !== undefined })),
    lists_models: listPathOf(provider) !== null,
    links: { documentation: docs, keys },
    object: 'catalogue_provider',
  }
}

const pathOf = (operation: Operation): string => `/v1${operations[operation].path}`

/** For clouds the key stands in the place of their sign-in fields; Oracle signs with fields alone. */
function keyOf({ kind }: Auth): CatalogueRow['key'] {
  if (kind === 'oracle') return 'none'
  return kind === 'bearer' || kind === 'header' ? 'required' : 'optional'
}

function fieldsOf(id: string, { fields = {}, baseUrl }: Provider, atLeast: AtLeast): CatalogueField[] {
  const required = new Set([
    ...(requiredFields[id] ?? []),
    ...Object.entries(fields).flatMap(([name, preset]) => (preset === null ? [name] : [])),
    ...(baseUrl === null ? ['custom_host'] : []),
  ])
  const names = [...Object.keys(fields), ...(extraFields[id] ?? []), 'custom_host', 'custom_headers']
  return [...new Set(names)]
    .filter((name) => !isLater(releaseOfField(name, ''), atLeast))
    .map((name) => ({
      name,
      kind: kindOf(name),
      choices: choicesOf(name, atLeast),
      secret: name === 'custom_headers' || secretFields.has(name),
      required: required.has(name) && notYetBeside(name, atLeast) === null,
      default: fields[name] === '' ? null : (fields[name] ?? null),
      needed_with: required.has(name) ? neededBesideOthers(name, atLeast) : neededWith(name, atLeast),
    }))
}

const neededWith = (name: string, atLeast: AtLeast): CatalogueField['needed_with'] =>
  choices.flatMap(({ field, value, needs, orKey }) =>
    needs.includes(name) && !isLater(releaseOfField(field, value), atLeast) ? [{ field, value, or_key: orKey }] : [],
  )

/** A field that is always needed, but for the choice beside which the level does not have it yet. */
function neededBesideOthers(name: string, atLeast: AtLeast): CatalogueField['needed_with'] {
  const not = notYetBeside(name, atLeast)
  const others = not === null ? [] : (choicesOf(not.field, atLeast) ?? []).filter((value) => value !== not.value)
  return [...neededWith(name, atLeast), ...others.map((value) => ({ field: not?.field ?? '', value, or_key: false }))]
}

const kinds: Readonly<Record<string, CatalogueField['kind']>> = { boolean: 'boolean', array: 'list', object: 'object' }
const urls: ReadonlySet<string> = new Set(['azure_foundry_url', 'huggingface_base_url', 'custom_host'])

function kindOf(name: string): CatalogueField['kind'] {
  const { type, enum: values } = schemaOf(name)
  if (values !== undefined) return 'choice'
  return (typeof type === 'string' ? kinds[type] : undefined) ?? (urls.has(name) ? 'url' : 'text')
}

function choicesOf(name: string, atLeast: AtLeast): string[] | null {
  const values = schemaOf(name).enum?.filter((value) => typeof value === 'string')
  return values?.filter((value) => !isLater(releaseOfField(name, value), atLeast)) ?? null
}

const schemaOf = (name: string) => z.toJSONSchema(fieldType(name), { io: 'output', unrepresentable: 'any' })
