import type { JsonPath } from '../../lib/json-path.ts'
import type { SecretPlace } from '../../lib/masked-secrets.ts'
import { checksOf, inlineGuardrail } from './guardrail.schema.ts'
import { findCheck } from './registry.ts'
import { isFields } from './walk.ts'

/** Where the parameters of a check hold secrets. Its other texts say where they are sent. */
export function parameterSecrets(id: string, parameters: unknown, path: JsonPath): readonly SecretPlace[] {
  const secrets = findCheck(id)?.secrets ?? []
  if (!isFields(parameters) || secrets.length === 0) return []
  const goesTo = Object.entries(parameters)
    .filter(([name, value]) => !secrets.includes(name) && typeof value === 'string')
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  return secrets.flatMap((name): readonly SecretPlace[] => {
    const value = parameters[name]
    if (!isFields(value)) return Object.hasOwn(parameters, name) ? [{ path: [...path, name], goesTo }] : []
    return Object.keys(value).map((inner) => ({ path: [...path, name, inner], goesTo: [goesTo, Object.keys(value).toSorted()] }))
  })
}

/** Where a list of checks holds secrets. */
export const checkListSecrets = (checks: unknown, path: JsonPath): readonly SecretPlace[] =>
  Array.isArray(checks)
    ? checks.flatMap((entry: unknown, at) =>
        isFields(entry) ? parameterSecrets(String(entry['id']), entry['parameters'], [...path, at, 'parameters']) : [],
      )
    : []

/** Where a guardrail that stands in a config holds secrets. */
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
  return (findCheck(id)?.urls ?? []).flatMap((name) => {
    const [outer = '', inner] = name.split('.')
    const held = parameters[outer]
    const url = inner === undefined ? held : isFields(held) ? held[inner] : undefined
    return typeof url === 'string' ? [{ path: [...path, ...name.split('.')], url }] : []
  })
}

/** The URLs that a guardrail of a config will call. */
export function inlineUrls(guardrail: unknown, path: JsonPath): readonly CheckUrl[] {
  const parsed = inlineGuardrail.safeParse(guardrail)
  if (!parsed.success) return []
  return checksOf(parsed.data).flatMap(({ id, parameters }) => urlsIn(id, parameters, [...path, id]))
}
