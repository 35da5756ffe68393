import type { Call } from '../call.ts'
import type { AskedWork } from './asked-work.ts'
import { conversationOf } from './conversation.ts'
import { isChange, isJob, isReadSession } from './jobs.ts'
import { isOperation } from './match.ts'
import { isCountOfGoogle } from './operation-name.ts'
import { type Operation, operations, type OperationSpec } from './operations.ts'
import { taskOf } from './task.ts'

type Asking = Pick<Call, 'operation' | 'upstreamPath'> & { readonly exchange: Pick<Call['exchange'], 'method'> }

/**
 * Returns the work that a request asks for; null: it asks for none, such as a list of files, or the end of a batch. A path that Gatehouse does not know may ask for
 * any: its end tells which, as in `/deployments/m/chat/completions`.
 */
export function workOf(asking: Asking): AskedWork | null {
  const { name } = asking.operation
  if (name !== 'proxy') return ofOperations.get(name) ?? null
  const [path = ''] = asking.upstreamPath.split('?', 1)
  if (reads.has(asking.exchange.method)) return isReadSession(path) ? job : null
  if (isChange(path)) return null
  if (conversationOf(asking) !== null) return { ...ofUnknown, task: 'conversation', dialect: 'google', operation: 'chatComplete' }
  const asked = taskOf(asking)
  if (asked !== null) return { ...ofUnknown, task: asked.task, dialect: asked.dialect, operation: asked.operation }
  if (isCountOfGoogle(path)) return { ...ofUnknown, task: 'token-count', dialect: 'google' }
  return ofEnd(path)
}

const reads: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS'])
const ofUnknown: AskedWork = { task: null, dialect: null, operation: null, beginsJob: false }

function ofSpec(operation: Operation, { task, dialect, beginsJob, leavesNothing }: OperationSpec): AskedWork | null {
  if (task === undefined && beginsJob !== true && leavesNothing !== true) return null
  return { task: task ?? null, dialect, operation, beginsJob: beginsJob === true }
}

const specs: readonly (readonly [name: Operation, spec: OperationSpec])[] = Object.entries<OperationSpec>(operations).flatMap(
  ([name, spec]) => (isOperation(name) ? [[name, spec] as const] : []),
)
/** The work of the operations; null: they ask for none. */
export const ofOperations: ReadonlyMap<string, AskedWork | null> = new Map(specs.map(([name, spec]) => [name, ofSpec(name, spec)]))

/** The operations by the ends of their paths, the longest first. A message of a thread is only kept. */
const ends: readonly (readonly [end: string, operation: Operation, spec: OperationSpec])[] = specs
  .filter(([, { method, path }]) => method === 'POST' && !path.includes('{'))
  .map(([name, spec]) => [spec.path, name, spec] as const)
  .toSorted(([one], [other]) => other.length - one.length)
const job: AskedWork = { ...ofUnknown, beginsJob: true }
const rerank: AskedWork = { ...ofUnknown, task: 'rerank', dialect: 'cohere' }

function ofEnd(path: string): AskedWork | null {
  if (path.includes('/threads/')) return ofUnknown
  if (path.endsWith('/rerank')) return rerank
  if (isJob(path)) return job
  const [, name, spec] = ends.find(([end]) => path.endsWith(end)) ?? []
  return name === undefined || spec === undefined ? ofUnknown : ofSpec(name, spec)
}
