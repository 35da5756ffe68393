import { inItems, inlineSecrets } from '../../gateway/ports/checks.ts'
import { isFields } from '../../lib/json/fields.ts'
import { providerFieldNames, secretConfigFields } from '../../gateway/ports/providers.ts'
import type { JsonPath } from '../../lib/json/json-path.ts'
import type { SecretPlace } from '../../lib/text/masked-secrets.ts'

type Fields = Readonly<Record<string, unknown>>

/** Returns the places of credentials in a config: its own, and those of the configs within it. */
export const configSecrets = (config: unknown): readonly SecretPlace[] => (isFields(config) ? secretsAt(config, [], []) : [])

function secretsAt(config: Fields, path: JsonPath, above: readonly unknown[]): readonly SecretPlace[] {
  const goesTo = [...above, addressOf(config)]
  const own = Object.keys(config).filter((name) => secretConfigFields.has(name))
  const guardrails = guardrailFields.flatMap((name) => inItems(config[name], [...path, name], inlineSecrets))
  return [
    ...own.map((name) => ({ path: [...path, name], goesTo })),
    ...guardrails,
    ...configsIn(config).flatMap(([at, inner]) => (isFields(inner) ? secretsAt(inner, [...path, ...at], goesTo) : [])),
  ]
}

/** Returns the configs that stand in one which was not checked yet. */
function configsIn({ targets, mirror }: Fields): readonly (readonly [path: JsonPath, config: unknown])[] {
  const listed = Array.isArray(targets) ? targets.map((target: unknown, at) => [['targets', at], target] as const) : []
  return isFields(mirror) ? [...listed, [['mirror', 'target'], mirror['target']]] : listed
}

/** The fields of a config that hold inline guardrails. */
export const guardrailFields = ['input_guardrails', 'output_guardrails', 'before_request_hooks', 'after_request_hooks'] as const

/** Returns the fields that decide to which host, and to which account, a credential goes. */
const addressOf = (config: Fields): unknown =>
  Object.entries(config)
    .filter(([name]) => addressing.has(name) || (providerFieldNames.has(name) && !secretConfigFields.has(name)))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))

const addressing = new Set(['provider', 'virtual_key', 'custom_host'])
