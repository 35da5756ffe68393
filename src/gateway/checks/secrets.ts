import { type JsonPath, valueAt } from '../../lib/json/json-path.ts'
import { maskQuery, type SecretPlace } from '../../lib/text/masked-secrets.ts'
import { checksOf, inlineGuardrail } from './guardrail.schema.ts'
import { pluginsUsedBy } from './partners/plugins.ts'
import { findCheck } from './registry.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { everyText } from '../dialects/texts/walk.ts'

/** Returns where the parameters of a check hold secrets. What else its credentials hold, and the URLs it calls, say where they are sent. */
export function parameterSecrets(id: string, parameters: unknown, path: JsonPath): readonly SecretPlace[] {
  const check = findCheck(id)
  if (check === null || check.secrets.length + check.urls.length === 0 || !isFields(parameters)) return []
  const places = check.secrets.flatMap((name) => heldAt(parameters, name.split('.')))
  const secret = new Set(places.map((place) => JSON.stringify(place)))
  const destinations = [...check.urls, 'credentials'].flatMap((name) => {
    const at = name.split('.')
    return everyText(valueAt(parameters, at), at, '').map((part) => [part.path, maskQuery(part.text)] as const)
  })
  const goesTo = destinations
    .map(([at, text]) => [JSON.stringify(at), text] as const)
    .filter(([at]) => !secret.has(at))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  const named = places.map((place): SecretPlace => ({ path: [...path, ...place], goesTo: [goesTo, namesBeside(parameters, place)] }))
  return [
    ...named,
    ...querySecrets(check.urls, parameters).map((place): SecretPlace => ({ path: [...path, ...place], goesTo, mask: maskQuery })),
  ]
}

/** The URLs with a query, whose values may be secrets. */
const querySecrets = (urls: readonly string[], parameters: Fields): readonly JsonPath[] =>
  urls
    .map((name) => name.split('.'))
    .filter((at) => {
      const url = valueAt(parameters, at)
      return typeof url === 'string' && url.includes('?')
    })

/** The secret at a place, or every value of an object there. */
function heldAt(parameters: Fields, at: JsonPath): readonly JsonPath[] {
  const held = valueAt(parameters, at)
  if (isFields(held)) return Object.keys(held).map((inner) => at.concat(inner))
  return held === undefined ? [] : [at]
}

/** The names of the object that a secret stands in, below the top: headers go together. */
const namesBeside = (parameters: Fields, place: JsonPath): readonly string[] =>
  place.length === 1 ? [] : Object.keys(Object(valueAt(parameters, place.slice(0, -1)))).toSorted()

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
export function inlineChecks(guardrail: unknown, path: JsonPath): readonly { readonly path: JsonPath; readonly id: string }[] {
  const parsed = inlineGuardrail.safeParse(guardrail)
  if (!parsed.success) return []
  const listed = parsed.data.checks?.length ?? 0
  return checksOf(parsed.data).map(({ id }, at) => ({ id, path: at < listed ? [...path, 'checks', at, 'id'] : [...path, id] }))
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
