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
    ...secretParams(config['override_params'], { path: [...path, 'override_params'], goesTo, isSecret: false }),
    ...guardrails,
    ...configsIn(config).flatMap(([at, inner]) => (isFields(inner) ? secretsAt(inner, [...path, ...at], goesTo) : [])),
  ]
}

/** Fields of requests by which a provider signs in elsewhere, such as at the servers of its tools. */
const secretParam = /^(?:authorization|password|credentials?|(?:.*[_-])?(?:api[_-]?key|secret|token)|apiKey)$/i
/** Tokens by which a model marks texts, and names that are no secret. */
const plainParam = /^(?:bos|eos|pad|unk|stop|sep|mask|cls)_token$/i

const isSecretParam = (name: string): boolean => name === 'headers' || (secretParam.test(name) && !plainParam.test(name))

/** A part of a request's fields, and how far it is known. */
interface ParamPart {
  readonly path: JsonPath
  readonly goesTo: readonly unknown[]
  readonly isSecret: boolean
}

/** Returns the places of credentials in the fields that a config writes into requests. A credential goes where the object says in which it stands. */
function secretParams(value: unknown, part: ParamPart): readonly SecretPlace[] {
  const { path, goesTo, isSecret } = part
  if (typeof value === 'string') return isSecret ? [{ path, goesTo }] : []
  if (Array.isArray(value)) return value.flatMap((one: unknown, at) => secretParams(one, { ...part, path: [...path, at] }))
  if (!isFields(value)) return []
  const address = value['server_url'] ?? value['url']
  const inner = !isSecret && typeof address === 'string' ? [...goesTo, address] : goesTo
  return Object.keys(value).flatMap((name) =>
    secretParams(value[name], { path: [...path, name], goesTo: inner, isSecret: isSecret || isSecretParam(name) }),
  )
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
