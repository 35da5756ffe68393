import { maskQuery } from '../lib/text/masked-secrets.ts'
import { scrubValue } from '../lib/text/secret-shapes.ts'
import { gather, sourceOf, type Environment } from './environment.ts'
import { settingNames, settings, type SettingName } from './settings.ts'

/** A setting as the documents describe it, with the value that takes effect here. */
export interface SettingReport {
  readonly name: SettingName
  readonly type: string
  /** Null: none. */
  readonly default: string | null
  readonly description: string
  readonly since: string
  readonly secret: boolean
  /** Masked when it is secret; null: not set, and no default. */
  readonly value: string | null
  /** The variable that it was read from: its own name, or `NAME_FILE`; null: not given. */
  readonly from: string | null
}

/** Every setting, in the order of the documents, as it takes effect: secrets masked, PEM texts named only. */
export function reportSettings(env: Environment): readonly SettingReport[] {
  const { values } = gather(env)
  return settingNames.map((name) => {
    const { kind, otherwise, desc, since, secret } = settings[name]
    const given = values[name]
    return {
      name,
      type: kind,
      default: otherwise,
      description: desc,
      since,
      secret,
      value: given === undefined ? otherwise : mask(given, secret),
      from: given === undefined ? null : sourceOf(name, env),
    }
  })
}

/** Each setting as it takes effect, for the log of the start. */
export function effectiveSettings(env: Environment): Readonly<Record<SettingName, string>> {
  const rows = reportSettings(env).map(({ name, value }) => [name, value ?? '(not set)'] as const)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- built from exactly these names
  return Object.fromEntries(rows) as Record<SettingName, string>
}

function mask(given: string, secret: boolean): string {
  if (secret) return '[secret]'
  // A URL that the start would refuse may name a password.
  return given.includes('-----BEGIN') ? '[PEM]' : scrubValue(given.includes('://') ? maskQuery(given) : given)
}
