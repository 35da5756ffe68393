import { type Fields, isFields } from '../../lib/json/fields.ts'
import { type JsonPath, valueAt } from '../../lib/json/json-path.ts'
import { maskQuery, type SecretPlace } from '../../lib/text/masked-secrets.ts'
import { everyText } from '../dialects/texts/walk.ts'
import { findCheck } from './registry.ts'

/** Returns where the parameters of a check hold secrets. Its other credentials, and the URLs it calls, are their destination. */
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
  const beside = destinationsOf(parameters, goesTo)
  const named = places.map((place): SecretPlace => ({ path: [...path, ...place], goesTo: beside(place) }))
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

/**
 * Returns a function that returns the destination of a secret, as one text: the URLs and credentials, and the names of the object that the secret
 * stands in, below the top, since headers go together. The names are read once for all secrets of an object.
 */
function destinationsOf(parameters: Fields, goesTo: unknown): (place: JsonPath) => string {
  const known = new Map<string, string>()
  return (place) => {
    const at = JSON.stringify(place.slice(0, -1))
    const text = known.get(at) ?? JSON.stringify([goesTo, place.length === 1 ? [] : namesAt(parameters, place.slice(0, -1))])
    known.set(at, text)
    return text
  }
}

const namesAt = (parameters: Fields, at: JsonPath): readonly string[] => Object.keys(Object(valueAt(parameters, at))).toSorted()
