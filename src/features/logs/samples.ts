import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import type { Actor } from '../../app/route.ts'
import type { Deps } from '../../app/deps.ts'
import { ApiError } from '../../lib/errors.ts'
import { demandScope } from '../workspaces/index.ts'
import { logFilter } from './log.schema.ts'
import type { LogRow } from './log-fields.ts'
import { findLogs } from './find-logs.ts'
import { findLog, logScopeOf } from './logs.queries.ts'
import { openLog } from './open-log.ts'
import { type BodyView, presentBody } from './present-body.ts'

/** The most logs that something is tried on at once. */
const most = 100

/** The logs of a trial: the latest that meet the filters of `GET /logs`. */
export const logSelection = logFilter
  .pick({
    time_of_generation_min: true,
    time_of_generation_max: true,
    status_code: true,
    ai_org: true,
    ai_model: true,
    virtual_keys: true,
    api_key_ids: true,
    prompt_slug: true,
    trace_id: true,
  })
  .extend({ limit: z.int().min(1).max(most).default(most).meta({ description: 'How many of the latest logs.' }) })
  .meta({ id: 'LogSelection', description: 'Which logs: the latest that meet these filters, as in `GET /v1/logs`.' })

export type LogSelection = z.output<typeof logSelection>

/** A log with its bodies as text or JSON. */
export interface LogSample {
  readonly path: string
  readonly request: BodyView
  readonly response: BodyView
}

/** Finds the latest logs that the caller may read and that meet a selection. AB03 without the scope to read them. */
export function selectLogs(
  em: EntityManager,
  actor: Actor,
  { workspaceId, selection }: { readonly workspaceId: string | null; readonly selection: LogSelection },
): Promise<LogRow[]> {
  demandScope(actor, 'logs.view')
  const { limit, ...filter } = selection
  return findLogs(
    em,
    { ...logScopeOf(actor), workspaceId: actor.workspaceId ?? workspaceId },
    { limit, filter: { ...filter, page_size: limit, order: 'desc' } },
  )
}

/** Reads the bodies of a log; null when it is gone, or sealed with a key that is not there. */
export async function readSample(
  em: EntityManager,
  actor: Actor,
  { id, deps }: { id: string; deps: Pick<Deps, 'vault' | 'logStore'> },
): Promise<LogSample | null> {
  const row = await findLog(em, logScopeOf(actor), id)
  if (row === null) return null
  try {
    const opened = await openLog(row, deps)
    const [request, response] = await Promise.all([
      presentBody({
        bytes: opened.request_body,
        truncated: opened.request_truncated ?? false,
        contentEncoding: opened.request_headers?.['content-encoding'],
      }),
      presentBody({
        bytes: opened.response_body,
        truncated: opened.response_truncated ?? false,
        contentEncoding: opened.response_headers?.['content-encoding'],
      }),
    ])
    return { path: opened.path, request, response }
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}
