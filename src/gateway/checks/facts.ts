import { isRecordBody, modelOf } from '../body.ts'
import { headerValue } from '../headers.ts'
import type { KeyHeader } from '../headers.ts'
import { bearerToken } from '../identify.ts'
import { known, type Progress } from '../progress.ts'
import type { RequestFacts } from './check.ts'

const keyHeaders: ReadonlySet<string> = new Set<KeyHeader>(['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'])
const isKeyHeader = (name: string): name is KeyHeader => keyHeaders.has(name)

/** What checks may know of an exchange. */
export function requestFacts(progress: Progress): RequestFacts {
  const { exchange, operation, path, metadata } = progress
  const { json } = known(progress.body)
  const target = known(progress.target)
  const model = modelOf(json)
  const slug = target.view?.slug
  return {
    json,
    method: exchange.req.method ?? 'GET',
    path: path.split('?', 1)[0] ?? path,
    operation: operation.name,
    prompted: progress.prompt !== null,
    stream: isRecordBody(json) && json['stream'] === true,
    model: target.modelRewritten && slug !== undefined && model !== null ? `@${slug}/${model}` : model,
    provider: target.providerId,
    metadata,
    header: (name) => callerHeader(progress, name),
  }
}

function callerHeader(progress: Progress, name: string): string | undefined {
  const headers = known(progress.headers)
  const { isOwnKey } = known(progress.caller)
  const value = isKeyHeader(name) ? headers.keys[name] : headerValue(headers.forward, name)
  return value === undefined || isOwnKey(value) || isOwnKey(bearerToken(value) ?? '') ? undefined : value
}
