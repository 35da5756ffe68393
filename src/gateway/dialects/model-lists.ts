import { isFields } from '../../lib/json/fields.ts'
import type { ListedModel } from './neutral/model.ts'

/** The paths at which an API lists its models; others have no list that can be read. */
export const modelListPaths: Readonly<Record<string, string | undefined>> = {
  openai: '/models',
  anthropic: '/models?limit=1000',
  google: '/v1beta/models?pageSize=1000',
}

const maxModels = 5000

/** Returns the models of a list; null when it is none: `{data: [{id}]}` of OpenAI and Anthropic, `{models: [{name: "models/…"}]}` of Google, or a bare list. */
export function readModelList(json: unknown): readonly ListedModel[] | null {
  const list = isFields(json) ? (json['data'] ?? json['models']) : json
  if (!Array.isArray(list)) return null
  return list.slice(0, maxModels).flatMap((one: unknown) => (isFields(one) ? toModel(one) : []))
}

function toModel(fields: Readonly<Record<string, unknown>>): readonly ListedModel[] {
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
