import { ApiError } from '../../lib/errors.ts'
import { isPathOfModels } from '../models/own-models.ts'
import { matchOperation } from '../operations/match.ts'
import { operations } from '../operations/operations.ts'
import { nearestPath } from '../../lib/text/nearest.ts'
import type { Caller } from '../callers/identify.ts'
import type { Exchange } from '../exchange/exchange.ts'

const longestPath = 100

/** An exchange that is refused; `caller` is null when no caller was let in. */
interface RefusedExchange {
  readonly exchange: Exchange
  readonly path: string
  readonly caller: Caller | null
}

const operationPaths = Object.values(operations).map(({ path }) => `/v1${path}`)

/** Returns the sentence that names the path that was probably meant, with a space before it; empty if none is near. */
function meantPath(path: string, known: readonly string[]): string {
  const asked = path.split('?', 1)[0] ?? ''
  const meant = asked.length > longestPath ? null : nearestPath(`/v1${asked}`, known)
  return meant === null ? '' : ` Did you mean ${meant}?`
}

/**
 * A misspelt path of the control plane (`/v1/prompt`) belongs to the data plane as every other does, and is refused there for fields that a call to a
 * provider lacks. The refusal then states how the path was taken, since it would not lead to the fault otherwise. `known`: the paths of
 * both planes.
 */
export function explainPath(
  error: ApiError,
  { exchange, path, caller }: RefusedExchange,
  known: readonly string[] = operationPaths,
): ApiError {
  const lacksScope = error.code === 'forbidden' && caller === null
  const namesNone = error.code === 'missing_provider' && error.param === 'x-service-provider'
  if ((!namesNone && !lacksScope) || isPathOfModels(path)) return error
  if (matchOperation(exchange.method, path.split('?', 1)[0] ?? '').name !== 'proxy') return error
  const asked = exchange.url.split('?', 1)[0]?.slice(0, longestPath)
  const { code, param, details, beside, cause } = error
  const message = `${error.message} ${asked} is no path of Gatehouse's own, and is taken for a provider's.${meantPath(path, known)}`
  return new ApiError(code, message, { ...(param !== null && { param }), details, beside, cause })
}
