import type { Call } from '../call.ts'
import type { DialectId } from '../dialects/dialect.ts'
import { decodeSegment } from '../../lib/text/decode-segment.ts'
import { isGooglePath } from './fronts.ts'
import { googlePattern } from './google-versions.ts'
import { conversations, type Operation, type Task } from './operations.ts'

/** Work that a call asks for, and that is no conversation. */
export interface AskedTask {
  readonly task: Task
  /** The operation that asks for the like of it; null: there is none, and the path may be the provider's own. */
  readonly operation: Operation | null
  readonly dialect: DialectId
  /** The model that the path names; null: the body names it. */
  readonly model: string | null
}

/** The tasks that are translated otherwise: as conversations, or as counts. */
const others: ReadonlySet<Task> = new Set([...conversations, 'token-count'])
const ofGoogle = googlePattern(String.raw`/models/([^?]+):(?:embedContent|batchEmbedContents)(?:\?|$)`)

const rerank: AskedTask = { task: 'rerank', operation: null, dialect: 'cohere', model: null }

/** Returns the task that a call asks for; null: it asks for a conversation, a count, or a task that Gatehouse does not know. */
export function taskOf({
  operation,
  upstreamPath,
  exchange,
}: Pick<Call, 'operation' | 'upstreamPath'> & { readonly exchange: Pick<Call['exchange'], 'method'> }): AskedTask | null {
  const { name, spec } = operation
  if (name !== 'proxy') {
    const task = spec?.task
    return spec === null || task === undefined || others.has(task) ? null : { task, operation: name, dialect: spec.dialect, model: null }
  }
  if (exchange.method !== 'POST') return null
  if (upstreamPath === '/rerank') return rerank
  if (!isGooglePath(upstreamPath)) return null
  const [, model] = ofGoogle.exec(upstreamPath) ?? []
  return model === undefined ? null : { task: 'embedding', operation: 'embed', dialect: 'google', model: decodeSegment(model) }
}
