import { isFields } from '../../lib/json/fields.ts'
import type { Call } from '../call.ts'
import type { AskedWork } from './asked-work.ts'
import { conversationOf } from './conversation.ts'
import { isCount, isConversation, isKeeping } from './free-paths.ts'
import { isJob, isReadSession } from './jobs.ts'
import { isOperation, plainPath } from './match.ts'
import { type Operation, operations, type OperationSpec } from './operations.ts'
import { workAtOwnPath } from './own-paths.ts'
import { taskOf } from './task.ts'

type WorkQuery = Pick<Call, 'operation' | 'upstreamPath'> & { readonly exchange: Pick<Call['exchange'], 'method'> }

/**
 * Returns the work that a request asks for; null: it asks for none, such as a list of files, or the end of a batch. A path that Gatehouse does not know may ask for
 * any, and may cost: its end decides which, behind any prefix, as in `/deployments/m/chat/completions`. Only reads, and the paths in a list, are free. `json`: its parsed body; undefined for a body that cannot be read, which may ask for any work.
 */
export function workOf(asking: WorkQuery, json: unknown): AskedWork | null {
  const { name } = asking.operation
  if (name !== 'proxy') return ofOperations.get(name) ?? null
  const [path = ''] = asking.upstreamPath.split('?', 1)
  if (reads.has(asking.exchange.method)) return isReadSession(path) ? job : null
  if (isConversation(path) && asksModel(json, path)) return { ...unknownWork, task: 'conversation', operation: 'chatComplete' }
  if (isKeeping(path)) return null
  if (isCount(path)) return tokenCount
  if (conversationOf(asking) !== null) return { ...unknownWork, task: 'conversation', dialect: 'google', operation: 'chatComplete' }
  const asked = taskOf(asking)
  if (asked !== null) return { ...unknownWork, task: asked.task, dialect: asked.dialect, operation: asked.operation }
  return ofEnd(plainPath(path))
}

/** A conversation at OpenAI has these fields alone, and changes by its metadata. At Mistral a model answers, also one that goes on without `inputs`. */
const keeping: ReadonlySet<string> = new Set(['items', 'metadata'])
const asksModel = (json: unknown, path: string): boolean =>
  !isFields(json) ||
  Object.keys(json).some((name) => !keeping.has(name)) ||
  (!path.endsWith('/conversations') && json['metadata'] === undefined)

const reads: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS'])
/** Work of which nothing is known, and that may cost. */
export const unknownWork: AskedWork = { task: null, dialect: null, operation: null, beginsJob: false }

function ofSpec(operation: Operation, { task, dialect, beginsJob, leavesNothing }: OperationSpec): AskedWork | null {
  if (task === undefined && beginsJob !== true && leavesNothing !== true) return null
  return { task: task ?? null, dialect, operation, beginsJob: beginsJob === true }
}

const specs: readonly (readonly [name: Operation, spec: OperationSpec])[] = Object.entries<OperationSpec>(operations).flatMap(
  ([name, spec]) => (isOperation(name) ? [[name, spec] as const] : []),
)
/** The work of the operations; null: they ask for none. */
export const ofOperations: ReadonlyMap<string, AskedWork | null> = new Map(specs.map(([name, spec]) => [name, ofSpec(name, spec)]))

/** The operations that may cost by the ends of their paths, the longest first. */
const ends: readonly (readonly [end: string, work: AskedWork])[] = specs
  .flatMap(([name, spec]): readonly (readonly [string, AskedWork])[] => {
    const work = spec.method === 'POST' && !spec.path.includes('{') && spec.task !== 'token-count' ? ofSpec(name, spec) : null
    return work === null ? [] : [[spec.path, work]]
  })
  .toSorted(([one], [other]) => other.length - one.length)
const job: AskedWork = { ...unknownWork, beginsJob: true }
const tokenCount: AskedWork = { ...unknownWork, task: 'token-count' }

const ofEnd = (path: string): AskedWork =>
  path.includes('/threads/')
    ? unknownWork
    : isJob(path)
      ? job
      : (workAtOwnPath(path) ?? ends.find(([end]) => path.endsWith(end))?.[1] ?? unknownWork)
