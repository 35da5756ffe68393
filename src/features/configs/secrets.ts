import { providerFieldNames, secretConfigFields } from '../../gateway/config/provider-fields.ts'
import type { JsonPath } from '../../lib/json-path.ts'
import type { SecretPlace } from '../../lib/masked-secrets.ts'

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Where a config holds credentials: its own, and those of its targets. */
export const configSecrets = (config: unknown): readonly SecretPlace[] => (isFields(config) ? secretsAt(config, [], []) : [])

function secretsAt(config: Fields, path: JsonPath, above: readonly unknown[]): readonly SecretPlace[] {
  const goesTo = [...above, addressOf(config)]
  const own = Object.keys(config).filter((name) => secretConfigFields.has(name))
  const { targets } = config
  return [
    ...own.map((name) => ({ path: [...path, name], goesTo })),
    ...(Array.isArray(targets)
      ? targets.flatMap((target: unknown, at) => (isFields(target) ? secretsAt(target, [...path, 'targets', at], goesTo) : []))
      : []),
  ]
}

/** What decides to which host, and to whose account, a credential goes. */
const addressOf = (config: Fields): unknown =>
  Object.entries(config)
    .filter(([name]) => addressing.has(name) || (providerFieldNames.has(name) && !secretConfigFields.has(name)))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))

const addressing = new Set(['provider', 'virtual_key', 'custom_host'])
