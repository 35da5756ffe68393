import type { EntityManager } from '@mikro-orm/postgresql'
import type { ChangeNotice } from '../../app/events/notice.ts'
import type { Actor } from '../../app/route.ts'
import { findVisibleExports, presentExport, readDeniedFields } from '../log-exports/index.ts'
import { findLogsById, logScopeOf, presentLog, type FilterValues } from '../logs/index.ts'
import type { Topic } from './events.schema.ts'
import type { NoticeBatch } from './pending.ts'

/** The scopes that topics take; null: each event has its own. */
export const topicScopes: Readonly<Record<Topic, string | null>> = { 'logs.tail': 'logs.list', exports: 'logs.export', changes: null }

export interface EventViewer {
  /** The caller as things stand now. */
  readonly actor: Actor
  readonly workspaceId: string | null
  readonly filter: FilterValues
}

/** An event as it is sent: its topic, and its data. */
export interface EventToSend {
  readonly topic: Topic
  readonly data: { readonly data: readonly unknown[]; readonly dropped: number | null }
}

/**
 * Returns those of the events that the caller may see now. `dropped`: how many more there were; null: there were more, and their visibility was not
 * checked.
 */
export async function visibleEvents(
  em: EntityManager,
  taken: NoticeBatch,
  { actor, workspaceId, filter }: EventViewer,
): Promise<readonly EventToSend[]> {
  const scope = { ...logScopeOf(actor), workspaceId: workspaceId ?? actor.workspaceId }
  const seesAll = scope.own === null && Object.values(filter).every((value) => value === undefined)
  const shown: EventToSend[] = []
  const add = (topic: Topic, data: readonly unknown[]) => {
    const dropped = topic === 'logs.tail' && seesAll ? taken.dropped[topic] : taken.dropped[topic] === 0 ? 0 : null
    if (data.length > 0 || dropped !== 0) shown.push({ topic, data: { data, dropped } })
  }
  if (taken.logs.length > 0) add('logs.tail', (await findLogsById(em, scope, { ids: taken.logs, filter })).map(presentLog))
  add('changes', taken.changes.filter((change) => seesChange(change, actor, scope.workspaceId)).map(presentChange))
  if (taken.exports.length > 0) {
    const exports = await findVisibleExports(em, actor, taken.exports)
    const denied = await readDeniedFields(em, actor.organisationId)
    const wanted = exports.filter((row) => workspaceId === null || row.workspaceId === workspaceId)
    add(
      'exports',
      wanted.map((row) => presentExport(row, denied)),
    )
  }
  return shown
}

const reading = ['list', 'read', 'view'] as const

function seesChange({ workspaceId: of, families }: ChangeNotice, actor: Actor, workspaceId: string | null): boolean {
  if (workspaceId !== null && of !== workspaceId) return false
  return families.some((family) => reading.some((verb) => actor.permissions.has(`${family}.${verb}`)))
}

const presentChange = ({ resource, id, action, workspaceId }: ChangeNotice) => ({ resource, id, action, workspace_id: workspaceId })
