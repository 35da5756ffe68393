import { z } from 'zod'
import { route } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { LogStoreError } from '../../app/log-store/log-store.ts'
import { textField } from '../../lib/text/text.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { workspaceFilter } from '../workspaces/index.ts'
import { eraseLogs } from './erase-logs.ts'

/** Logs that one call erases at most: as many as a transaction does within a second. */
const mostErased = 1000

const body = z
  .strictObject({
    user_id: z.uuid().optional().meta({ description: 'A person of the organisation: the requests of their own keys.' }),
    metadata: z
      .record(textField(255), textField(2000))
      .optional()
      .meta({ description: 'Logs that have all these pairs among their metadata, such as `{"_user":"ada"}`.' }),
    workspace_id: textField(255).optional().meta({ description: 'Id or slug; absent: all workspaces that the caller may see.' }),
  })
  .refine(({ user_id, metadata = {} }) => user_id !== undefined || Object.keys(metadata).length > 0, {
    message: 'Say whose logs: `user_id`, `metadata` or both.',
    path: ['user_id'],
  })
  .meta({ id: 'EraseLogs', description: 'Whose logs to erase.' })

const response = z
  .object({
    object: z.literal('log.erasure'),
    id: z.uuid().meta({ description: 'As the audit trail names it.' }),
    erased: z.int(),
    waiting: z.int().meta({ description: 'Logs whose bodies are on their way to the log store: ask again in a minute.' }),
    has_more: z.boolean().meta({ description: `True: ask again. One call erases ${mostErased} logs at most.` }),
    objects: z.array(z.string()).meta({
      description: 'Objects that hold bodies of these logs in a log store where Gatehouse has no right to delete: delete them there.',
    }),
  })
  .meta({ id: 'LogErasure', description: 'What was erased.' })

export const eraseLogsOf = route({
  method: 'POST',
  path: '/logs/erasures',
  summary: 'Erase personal data from logs; the usage and cost of requests stay',
  permission: 'organisation_settings.update',
  resource: 'log',
  action: 'erase',
  body,
  response,
})(async ({ em, actor, body: { user_id: userId, metadata, workspace_id: reference }, audit, deps: { logStore } }) => {
  const { organisationId } = actor
  const workspaceId = await workspaceFilter(em, actor, reference)
  const filter = { ...(userId !== undefined && { user_id: [userId] }), ...(metadata !== undefined && { metadata }) }
  const id = uuidv7()
  try {
    const done = await eraseLogs(em, { organisationId, workspaceId, own: null }, { filter, limit: mostErased, store: logStore })
    audit({ id, workspaceId, changes: [{ table: 'logs', id, before: null, after: { erased: done.erased } }] })
    return { object: 'log.erasure' as const, id, ...done, objects: [...done.objects] }
  } catch (error) {
    if (!(error instanceof LogStoreError)) throw error
    throw new ApiError('dependency_unavailable', `No log was erased, because the log store cannot be changed: ${error.message}.`, {
      cause: error,
    })
  }
})
