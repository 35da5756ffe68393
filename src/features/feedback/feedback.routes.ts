import { LockMode } from '@mikro-orm/postgresql'
import { notFound, orNotFound } from '../../app/database/find.ts'
import { route } from '../../app/route.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { resolveWorkspace, visibleTo } from '../workspaces/index.ts'
import { Feedback } from './feedback.entity.ts'
import { createFeedbackBody, feedbackParams, feedbackSaved, updateFeedbackBody } from './feedback.schema.ts'

const permission = 'feedbacks.write'
const resource = 'feedback'

export const createFeedback = route({
  method: 'POST',
  path: '/feedback',
  summary: 'Rate the answers of a trace',
  permission,
  action: 'create',
  resource,
  body: createFeedbackBody,
  response: feedbackSaved,
})(async ({ em, actor, body, audit }) => {
  const { id: workspaceId, organisationId } = await resolveWorkspace(em, actor, undefined)
  const rows = body.map(({ trace_id, value, weight, metadata }) =>
    em.create(Feedback, {
      organisationId,
      workspaceId,
      traceId: trace_id,
      value,
      weight,
      metadata,
      apiKeyId: actor.id,
      userId: actor.userId,
    }),
  )
  await em.flush()
  const ids = rows.map(({ id }) => id)
  audit({ id: ids[0] ?? workspaceId, workspaceId })
  return { status: 'success' as const, message: 'Feedback saved.', feedback_ids: ids }
})

export const updateFeedback = route({
  method: 'PUT',
  path: '/feedback/:id',
  summary: 'Change a feedback',
  permission,
  action: 'update',
  resource,
  params: feedbackParams,
  body: updateFeedbackBody,
  response: feedbackSaved,
})(async ({ em, actor, params: { id }, body, audit }) => {
  if (!isUuid(id)) throw notFound('feedback', id)
  const found = await em.findOne(Feedback, { id, ...visibleTo(actor) }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  const row = orNotFound(found, 'feedback', id)
  assignDefined(row, { value: body.value, weight: body.weight, metadata: body.metadata === null ? {} : body.metadata })
  audit({ id: row.id, workspaceId: row.workspaceId })
  return { status: 'success' as const, message: 'Feedback changed.', feedback_ids: [row.id] }
})
