import type { Call } from '../call.ts'
import type { StreamFraming } from '../dialects/codec.ts'
import type { DialectId } from '../dialects/dialect.ts'
import { decodeSegment } from '../../lib/text/decode-segment.ts'
import { isGooglePath } from './fronts.ts'
import { googlePattern } from './google-versions.ts'
import { conversations, type Operation } from './operations.ts'

/** A conversation that a call asks for. */
export interface AskedOfCall {
  /** The operation that asks for the like of it. */
  readonly operation: Operation
  readonly dialect: DialectId
  /** The model that the path names; null: the body names it. */
  readonly model: string | null
  /** Null: the body decides it. */
  readonly stream: boolean | null
  /** How the client reads a stream. */
  readonly framing: StreamFraming
}

const ofGoogle = googlePattern(String.raw`/models/([^?]+):(generate|streamGenerate)Content(?:\?(.*))?$`)

/** Returns the conversation that a call asks for; null: it asks for something else. */
export function conversationOf({
  operation,
  upstreamPath,
  exchange,
}: Pick<Call, 'operation' | 'upstreamPath'> & { readonly exchange: Pick<Call['exchange'], 'method'> }): AskedOfCall | null {
  const { name, spec } = operation
  if (name !== 'proxy')
    return spec?.task !== undefined && conversations.has(spec.task)
      ? { operation: name, dialect: spec.dialect, model: null, stream: null, framing: 'sse' }
      : null
  if (exchange.method !== 'POST' || !isGooglePath(upstreamPath)) return null
  const [, model, verb, search = ''] = ofGoogle.exec(upstreamPath) ?? []
  if (model === undefined) return null
  return {
    operation: 'chatComplete',
    dialect: 'google',
    model: decodeSegment(model),
    stream: verb === 'streamGenerate',
    framing: new URLSearchParams(search).get('alt') === 'sse' ? 'sse' : 'json-array',
  }
}
