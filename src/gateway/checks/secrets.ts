import { type JsonPath, valueAt } from '../../lib/json/json-path.ts'
import type { SecretPlace } from '../../lib/text/masked-secrets.ts'
import { type CheckEntry, checksOf, inlineGuardrail } from './guardrail.schema.ts'
import { pluginsUsedBy } from './partners/plugins.ts'
import { findCheck } from './registry.ts'
import { isFields } from '../../lib/json/fields.ts'
import { parameterSecrets } from './parameter-secrets.ts'

/** Returns where a list of checks holds secrets. */
export const checkListSecrets = (checks: unknown, path: JsonPath): readonly SecretPlace[] =>
  Array.isArray(checks)
    ? checks.flatMap((entry: unknown, at) =>
        isFields(entry) ? parameterSecrets(String(entry['id']), entry['parameters'], [...path, at, 'parameters']) : [],
      )
    : []

/** Returns where a guardrail that stands in a config holds secrets. */
export function inlineSecrets(guardrail: unknown, path: JsonPath): readonly SecretPlace[] {
  if (!isFields(guardrail)) return []
  const own = Object.keys(guardrail).flatMap((id) => parameterSecrets(id, guardrail[id], [...path, id]))
  return [...own, ...checkListSecrets(guardrail['checks'], [...path, 'checks'])]
}

/** A URL that a check will call, and the field that holds it. */
export interface CheckUrl {
  readonly path: JsonPath
  readonly url: string
}

/** The URLs that checks will call. */
export const checkUrls = (checks: readonly { readonly id: string; readonly parameters?: unknown }[], path: JsonPath): readonly CheckUrl[] =>
  checks.flatMap(({ id, parameters }, at) => urlsIn(id, parameters, [...path, at, 'parameters']))

function urlsIn(id: string, parameters: unknown, path: JsonPath): readonly CheckUrl[] {
  if (!isFields(parameters)) return []
  const check = findCheck(id)
  const service = check?.serviceOf?.(parameters) ?? null
  const named = (check?.urls ?? []).flatMap((name) => {
    const url = valueAt(parameters, name.split('.'))
    return typeof url === 'string' ? [{ path: [...path, ...name.split('.')], url }] : []
  })
  return service === null ? named : [...named, { path: [...path, 'credentials'], url: service }]
}

/** The checks of a guardrail of a config, each with its place in it. */
export function inlineChecks(guardrail: unknown, path: JsonPath): readonly InlineCheck[] {
  const parsed = inlineGuardrail.safeParse(guardrail)
  if (!parsed.success) return []
  const listed = parsed.data.checks?.length ?? 0
  return checksOf(parsed.data).map((entry, at) => {
    const own = [...path, 'checks', at]
    const [id, parameters] =
      at < listed
        ? [
            [...own, 'id'],
            [...own, 'parameters'],
          ]
        : [
            [...path, entry.id],
            [...path, entry.id],
          ]
    return { entry, id, parameters }
  })
}

/** A check within a guardrail of a config, and the paths of its id and of its parameters. */
export interface InlineCheck {
  readonly entry: CheckEntry
  readonly id: JsonPath
  readonly parameters: JsonPath
}

/** The partners whose stored credentials a guardrail of a config uses. */
export function inlinePlugins(guardrail: unknown): readonly string[] {
  const parsed = inlineGuardrail.safeParse(guardrail)
  return parsed.success ? pluginsUsedBy(checksOf(parsed.data)) : []
}

/** The URLs that a guardrail of a config will call. */
export function inlineUrls(guardrail: unknown, path: JsonPath): readonly CheckUrl[] {
  const parsed = inlineGuardrail.safeParse(guardrail)
  if (!parsed.success) return []
  return checksOf(parsed.data).flatMap(({ id, parameters }) => urlsIn(id, parameters, [...path, id]))
}
