import { makeExactValidator, type OptionalValidatorSpec, type RequiredValidatorSpec } from 'envalid'
import type { Kind } from './kinds.ts'

/** The documentation of a setting. */
export interface Explanation {
  /** One or two sentences, in Markdown. */
  readonly desc: string
  readonly example: string
  /** The release that brought it. */
  readonly since?: string
  /** In effect below the release that brought it too: its default would be less safe. */
  readonly atEveryLevel?: boolean
  /** Never shown, and also read from the file that `NAME_FILE` names. */
  readonly secret?: boolean
}

/** The description of a setting of any type. */
export interface SettingDescription extends Required<Explanation> {
  readonly kind: string
  /** The default as it would be written; null: none. */
  readonly otherwise: string | null
  /** The kind's JSON Schema. */
  readonly schema: Readonly<Record<string, unknown>>
}

const describe = <T extends {}>(kind: Kind<T>, explanation: Explanation) => ({
  kind: kind.name,
  schema: kind.schema ?? { type: 'string' },
  since: '1.3.0',
  secret: false,
  atEveryLevel: false,
  ...explanation,
})

/** A setting with a default. */
export function setting<T extends {}>(
  kind: Kind<T>,
  otherwise: string,
  explanation: Explanation,
): RequiredValidatorSpec<T> & SettingDescription {
  const described = { ...describe(kind, explanation), otherwise }
  return { ...described, ...makeExactValidator<T>(kind.parse)({ ...described, default: kind.parse(otherwise) }) }
}

/** A setting that may stay unset. */
export function optional<T extends {}>(kind: Kind<T>, explanation: Explanation): OptionalValidatorSpec<T> & SettingDescription {
  const described = { ...describe(kind, explanation), otherwise: null }
  return { ...described, ...makeExactValidator<T>(kind.parse)({ ...described, default: undefined }) }
}
