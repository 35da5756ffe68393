import { holdsApiKey } from '../../lib/api-key.ts'

/** An owner of keys that recognises them by their form. A key of ours goes neither upstream nor into logs. */
export interface KeyOwner {
  readonly holdsOwnKey: (text: string) => boolean
}

/** No key of ours is shorter: `INIT_*` demands as much. */
const shortestKey = 32

/** Returns whether a text holds a key of ours: the one that was used, or another with the form of one. Decoded forms count. */
export function holdsKeyOfOurs(text: string, secret: string, chosenKeys: ReadonlySet<string>): boolean {
  if (text.length < shortestKey) return false
  return (
    holds(text, secret, chosenKeys) ||
    (text.includes('%') && holds(decoded(text), secret, chosenKeys)) ||
    (/^basic /i.test(text) && holds(basicText(text), secret, chosenKeys))
  )
}

function holds(text: string, secret: string, chosenKeys: ReadonlySet<string>): boolean {
  if (text.includes(secret) || holdsApiKey(text)) return true
  if (chosenKeys.size > 0) for (const chosen of chosenKeys) if (text.includes(chosen)) return true
  return false
}

const basicText = (value: string): string => Buffer.from(value.slice('basic '.length), 'base64').toString()

/** Returns the headers without those that hold a key of ours, under any name. */
export function withoutOwnKeys(forward: readonly string[], { holdsOwnKey }: KeyOwner): readonly string[] {
  let kept: string[] | null = null
  for (let i = 1; i < forward.length; i += 2) {
    if (holdsOwnKey(forward[i] ?? '')) kept ??= forward.slice(0, i - 1)
    else kept?.push(forward[i - 1] ?? '', forward[i] ?? '')
  }
  return kept ?? forward
}

/** Returns the name of the parameter of a query that holds a key of ours, which would go to the provider and into its logs; else null. */
function keyInQuery(search: string, { holdsOwnKey }: KeyOwner): string | null {
  if (search.length < shortestKey) return null
  for (const [name, value] of new URLSearchParams(search)) {
    if (holdsOwnKey(name)) return 'query'
    if (holdsOwnKey(value)) return name
  }
  return holdsOwnKey(search) ? 'query' : null
}

/** Returns the path without the segments that hold a key of ours; the same path when there is none. */
function withoutKeySegments(path: string, { holdsOwnKey }: KeyOwner): string {
  if (path.length <= shortestKey || !holdsOwnKey(path)) return path
  const kept = path.split('/').map((segment) => (holdsOwnKey(segment) ? '[removed]' : segment))
  // A key that the operator chose may itself hold slashes.
  return kept.includes('[removed]') ? kept.join('/') : '/[removed]'
}

/** Returns `path`, or the name of the parameter of the query, where a key of ours stands in a path with its query; null: in neither. */
export function ownKeyIn(pathAndQuery: string, owner: KeyOwner): string | null {
  if (pathAndQuery.length < shortestKey) return null
  const at = pathAndQuery.indexOf('?')
  const path = at === -1 ? pathAndQuery : pathAndQuery.slice(0, at)
  const param = at === -1 ? null : keyInQuery(pathAndQuery.slice(at + 1), owner)
  return param ?? (withoutKeySegments(path, owner) === path ? null : 'path')
}

/** Returns a path and its query without keys of ours, as the log may have them. */
export function withoutOwnKeysInPath(pathAndQuery: string, owner: KeyOwner): string {
  if (pathAndQuery.length < shortestKey) return pathAndQuery
  const at = pathAndQuery.indexOf('?')
  const path = withoutKeySegments(at === -1 ? pathAndQuery : pathAndQuery.slice(0, at), owner)
  if (at === -1) return path
  return path + (keyInQuery(pathAndQuery.slice(at + 1), owner) === null ? pathAndQuery.slice(at) : '?[removed]')
}

/** Returns the text with its percent signs read, twice where they are written twice. */
const decoded = (text: string): string => unescaped(unescaped(text))

const unescaped = (text: string): string =>
  text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString())
