import { route } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { resolveWorkspace } from '../workspaces/index.ts'
import { insertLogsBody, logsInserted } from './insert.schema.ts'
import { toExchange } from './inserted-log.ts'

export const insertLogs = route({
  method: 'POST',
  path: '/logs',
  summary: 'Insert logs of calls that did not go through the gateway',
  permission: 'logs.write',
  resource: 'log',
  effect: 'none',
  body: insertLogsBody,
  response: logsInserted,
})(async ({ em, actor, body, deps: { journal, clock }, clientAddress, afterCommit }) => {
  if (journal === null) throw new ApiError('dependency_unavailable', 'This process cannot take logs yet.')
  const { id: workspaceId } = await resolveWorkspace(em, actor, undefined)
  const insertion = { actor, workspaceId, clientAddress, now: clock.now(), maxBodyBytes: journal.maxBodyBytes }
  const exchanges = body.map((log) => toExchange(log, insertion))
  // With the commit, so that a retry with the same idempotency key inserts no log twice.
  afterCommit(async () => {
    for (const { record, bodies } of exchanges) journal.append(record, bodies)
  })
  return { status: 'success' as const, message: 'Logs inserted.', log_ids: exchanges.map(({ record }) => record.id) }
})
