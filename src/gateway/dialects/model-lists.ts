import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { ListedModel } from './neutral/model.ts'

/** The paths at which an API lists its models; others have no list that can be read. */
export const modelListPaths: Readonly<Record<string, string | undefined>> = {
  openai: '/models',
  anthropic: '/models?limit=1000',
  google: '/v1beta/models?pageSize=1000',
}

const maxModels = 5000

/**
 * Returns the models of a list; null when it is none: `{data: [{id}]}` of OpenAI and Anthropic, `{models: [{name: "models/…"}]}` of Google,
 * `{items: [{displayName}]}` of Oracle, `{results: [{owner, name}]}` of Replicate, or a bare list.
 */
export function readModelList(json: unknown): readonly ListedModel[] | null {
  if (isFields(json) && Array.isArray(json['items'])) return read(json['items'], ofOracle)
  if (isFields(json) && Array.isArray(json['results'])) return read(json['results'], ofReplicate)
  const list: unknown = isFields(json) ? (json['data'] ?? json['models']) : json
  return Array.isArray(list) ? read(list, (fields) => fields) : null
}

/** Reads the models of a list in OpenAI's words. One model may be listed several times, with its other abilities. */
function read(list: readonly unknown[], named: (fields: Fields) => Fields): readonly ListedModel[] {
  const found = list.slice(0, maxModels).flatMap((one) => (isFields(one) ? toModel(named(one)) : []))
  return [...new Map(found.map((model) => [model.id, model])).values()]
}

/** Requests name a model of Oracle's by the name that is shown; its id is that of a resource, which may be there and out of use. */
const ofOracle = ({ displayName, timeCreated, lifecycleState: state = 'ACTIVE' }: Fields): Fields =>
  state === 'ACTIVE' ? { id: displayName, created: timeCreated } : {}

function ofReplicate({ owner, name, latest_version: version }: Fields): Fields {
  const isNamed = typeof owner === 'string' && typeof name === 'string'
  return isNamed ? { id: `${owner}/${name}`, created: isFields(version) ? version['created_at'] : undefined } : {}
}

function toModel(fields: Fields): readonly ListedModel[] {
  const id = textOf(fields['id']) ?? textOf(fields['name'])?.replace(/^models\//, '')
  if (id === undefined || id.length > 255) return []
  const { created, created_at: createdAt } = fields
  return [{ id, name: textOf(fields['display_name']) ?? textOf(fields['displayName']) ?? id, created: seconds(created ?? createdAt) }]
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

function seconds(value: unknown): number {
  const at = typeof value === 'string' ? Math.floor(Date.parse(value) / 1000) : value
  return typeof at === 'number' && Number.isSafeInteger(at) && at > 0 ? at : 0
}
