import { ApiError } from '../../lib/errors.ts'
import { type KeyOwner, ownKeyIn } from '../callers/own-keys.ts'
import type { CallHead } from '../call.ts'
import { validateQuery } from '../bounds/validate.ts'
import { checkLogHeaders } from './debug.ts'
import type { CallerHeaders } from '../wire/headers.ts'
import { type MatchedOperation, matchOperation } from '../operations/match.ts'

/** A slash and a dot as one server or another reads them: plain, percent-encoded once or more often, in an overlong UTF-8. */
const slash = String.raw`[/\\]|%(?:25)*(?:2f|5c|c0%(?:25)*af)`
const dot = String.raw`\.|%(?:25)*(?:2e|c0%(?:25)*ae)`
/** The characters at which some servers cut a segment off before they look for dots: `/..;a/`. */
const segmentEnd = String.raw`;|%(?:25)*(?:3b|3f|23|00|09|20)`

/** A segment `.` or `..`, by which a server would climb out of the base path. */
const dotSegment = new RegExp(`(?:^|${slash})(?:${dot}){1,2}(?:${slash}|${segmentEnd}|$)`, 'i')

/** No TRACE among them: a server that honours it would show the caller the stored credential. */
const methods: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])

/** Finds the operation of a method and a path with its query. Throws for a request that no provider may see. */
export function readOperation(method: string, pathAndQuery: string): MatchedOperation {
  const at = pathAndQuery.indexOf('?')
  const path = at === -1 ? pathAndQuery : pathAndQuery.slice(0, at)
  if (!methods.has(method)) throw new ApiError('method_not_allowed', `${method} is not passed on. These are: ${[...methods].join(', ')}.`)
  if (path === '/' || path === '')
    throw new ApiError('not_found', 'There is no operation at this path. Append the path of a provider endpoint to the base URL.')
  if ((path.includes('.') || path.includes('%')) && dotSegment.test(path))
    throw new ApiError('invalid_request', 'The path must not hold the segments "." or "..".', { param: 'path' })
  return matchOperation(method, path)
}

/** Checks the rest of a request before its body: the keys in its path, its `x-service-debug`, its query. Throws `invalid_request`. */
export function checkRequestLine({ path, operation, caller, headers }: Pick<CallHead, 'path' | 'operation' | 'caller' | 'headers'>): void {
  const param = ownKeyIn(path, caller)
  if (param !== null) throw ownKey(param === 'path' ? 'the path' : 'the query', param)
  checkLogHeaders(headers)
  if (operation.name === 'proxy') return
  const at = path.indexOf('?')
  validateQuery(operation.name, at === -1 ? '' : path.slice(at + 1))
}

/** Returns the refusal of headers of ours that hold a key of ours where it has no place; null when none does. */
export function misplacedKey({ service }: CallerHeaders, { holdsOwnKey }: KeyOwner): ApiError | null {
  for (const [name, value] of service)
    if (!keyHolders.has(name) && holdsOwnKey(value)) return ownKey(`x-service-${name}`, `x-service-${name}`)
  return null
}

/** Headers of ours in which a key has its place: the caller's own, and those of a config about its targets. */
const keyHolders: ReadonlySet<string> = new Set(['api-key', 'config'])

/** A key of ours would go to the provider, and into its logs and ours. */
const ownKey = (place: string, param: string) =>
  new ApiError('invalid_request', `A Gatehouse key must not stand in ${place}. Put it in x-service-api-key.`, { param })
