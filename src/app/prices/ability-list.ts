import { parseAnswer } from '../../lib/json/json.ts'
import { createHash } from 'node:crypto'
import { type Fields, isFields } from '../../lib/json/fields.ts'

/** A list of the abilities of the models of one provider. */
export interface AbilityList {
  /** The first 16 digits of the SHA-256 of the file. */
  readonly digest: string
  /** Returns the abilities of a model, upper and lower case alike; null: the list does not have it. */
  read(model: string): Fields | null
}

/**
 * Reads a list of abilities in our format (`schema` 1, a model has `kind`, `limits`, `in`, `out` and `can`), or in that of the public files
 * (`type.primary` and `type.supported`). Throws on other texts.
 */
export function readAbilityList(bytes: Buffer): AbilityList {
  const list = parseAnswer(bytes.toString('utf8'))
  if (!isFields(list)) throw new Error('the list is no JSON object')
  const given = list['schema'] === undefined ? list : list['models']
  if (!isFields(given)) throw new Error('the list has no models')
  const models = new Map<string, Fields>()
  for (const [name, model] of Object.entries(given)) {
    if (!isFields(model)) throw new Error(`the abilities of ${name} are none`)
    if (name !== 'default') models.set(name.toLowerCase(), abilitiesOf(model))
  }
  if (models.size === 0) throw new Error('the list has no model')
  return {
    digest: createHash('sha256').update(bytes).digest('hex').slice(0, 16),
    read: (model) => models.get(model.toLowerCase()) ?? null,
  }
}

/** The fields of a model in a list of prices that are no price. */
const named = ['kind', 'limits', 'in', 'out', 'can', 'deprecated', 'params'] as const

/** Returns the abilities of a model in our words. */
export function abilitiesOf(model: Fields): Fields {
  const { type } = model
  const ours = Object.fromEntries(named.flatMap((name) => (model[name] === undefined ? [] : [[name, model[name]]])))
  return isFields(type) ? { kind: type['primary'], can: type['supported'], ...ours } : ours
}
