import { randomUUID } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'

/** The channel of the database on which processes exchange notices. */
export const channel = 'gatehouse_events'

const common = { organisationId: z.string(), token: z.string() }

/** New logs, announced by the process that inserted them. */
const logsNotice = z.object({ ...common, topic: z.literal('logs.tail'), workspaceId: z.string().nullable(), ids: z.array(z.string()) })

/** A write of the control plane; `families` are the groups of scopes that it asked for: `virtual_keys` of `virtual_keys.update`. */
const changeNotice = z.object({
  ...common,
  topic: z.literal('changes'),
  /** Null: of the whole organisation. */
  workspaceId: z.string().nullable(),
  resource: z.string(),
  id: z.string().nullable(),
  action: z.string(),
  families: z.array(z.string()),
})

/** An export that went on, or ended. */
const exportNotice = z.object({ ...common, topic: z.literal('exports'), id: z.string() })

const notice = z.discriminatedUnion('topic', [logsNotice, changeNotice, exportNotice])

/** A notice as it arrived. All processes receive the same ones in the same order, that of their commits. */
export type Notice = z.output<typeof notice>
export type ChangeNotice = Omit<z.output<typeof changeNotice>, 'token'>
export type ExportNotice = Omit<z.output<typeof exportNotice>, 'token'>

/** Notifies every process, when and only when the transaction is committed. */
export async function tellEvent(em: EntityManager, event: ChangeNotice | ExportNotice): Promise<void> {
  await em.execute('SELECT pg_notify(?, ?)', [...notification(event)])
}

/** Returns the arguments of `pg_notify` for an event. */
export const notification = (event: ChangeNotice | ExportNotice): readonly [channel: string, payload: string] => [
  channel,
  JSON.stringify({ ...event, token: randomUUID() }),
]

/** A payload has at most 8,000 bytes: so many ids fit. */
const idsInNotice = 180

/** Announces logs: `$1` their ids, `$2` their organisations, `$3` their workspaces. */
export const tellLogsStatement = `
  SELECT pg_notify('${channel}', json_build_object('topic', 'logs.tail', 'organisationId', organisation_id, 'workspaceId', workspace_id,
                                                   'token', gen_random_uuid(), 'ids', ids)::text)
    FROM (SELECT organisation_id, workspace_id, array_agg(id) AS ids
            FROM (SELECT *, (row_number() OVER (PARTITION BY organisation_id, workspace_id) - 1) / ${idsInNotice} AS part
                    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS l (id, organisation_id, workspace_id)) numbered
           GROUP BY organisation_id, workspace_id, part) told`

/** Reads a notice; null for another text, and for a notice of another release that this one does not support. */
export function readNotice(payload: string): Notice | null {
  try {
    return notice.safeParse(JSON.parse(payload)).data ?? null
  } catch {
    return null
  }
}
