import { isFields } from '../../lib/json/fields.ts'
import { modelOf } from '../wire/body.ts'
import { headerValue } from '../wire/header-list.ts'
import { modelNames } from '../dialects/model-names.ts'
import { modelRequest } from '../targets/model-access.ts'
import { isKeyHeader } from '../wire/headers.ts'
import { matchOperation, plainPath } from '../operations/match.ts'
import type { AimedCall, Call } from '../call.ts'
import type { RequestFacts } from './check.ts'

/** Returns the facts of a call that checks may see: with the body that is sent, or as it is just now. */
export function requestFacts({ call, target, body: sent }: AimedCall, body = sent): RequestFacts {
  const { exchange, operation, path, metadata } = call
  const { json } = body
  const model = modelOf(json)
  const slug = target.view?.slug
  const { method } = exchange
  const plain = plainPath(path.split('?', 1)[0] ?? path)
  const asked = operation.name === 'proxy' ? matchOperation(method, plain) : operation
  const called = (name: string) => (target.modelRewritten && slug !== undefined ? `@${slug}/${name}` : name)
  return {
    json,
    method,
    path: plain,
    operation: asked.name,
    dialect: asked.spec?.dialect ?? null,
    prompted: call.prompt !== null,
    stream: isFields(json) && json['stream'] === true,
    model: model === null ? null : called(model),
    models: () => modelNames(modelRequest(call, body)).map(called),
    provider: target.providerId,
    metadata,
    header: (name) => callerHeader(call, name),
  }
}

function callerHeader({ headers, caller }: Call, name: string): string | undefined {
  const value = isKeyHeader(name) ? headers.keys[name] : headerValue(headers.forward, name)
  return value === undefined || caller.holdsOwnKey(value) ? undefined : value
}
