import { route } from '../../app/route.ts'
import { ownFiguresOf } from '../../lib/access/rank.ts'
import { msOfUnit } from '../limits/index.ts'
import { resolveWorkspace } from '../workspaces/index.ts'
import { draftTried, rateLimitDraft, usageLimitDraft } from './preview.schema.ts'
import { tryDraft } from './preview.ts'

const object = 'policy_preview' as const

export const previewRateLimit = route({
  method: 'POST',
  path: '/policies/rate-limits/preview',
  resource: 'rate-limits-policy',
  summary: 'Try a rate-limit policy on the latest logs before it is made',
  permission: 'policies.create',
  effect: 'none',
  costly: () => true,
  body: rateLimitDraft,
  response: draftTried,
})(async ({ em, actor, body }) => {
  const { conditions, group_by: groupBy, type: counts, unit, value, workspace_id, hours } = body
  const { id: workspaceId } = await resolveWorkspace(em, actor, workspace_id)
  const draft = { conditions, groupBy, counts, value, windowMs: msOfUnit(unit) }
  return { object, ...(await tryDraft(em, draft, { organisationId: actor.organisationId, workspaceId, hours, own: ownFiguresOf(actor) })) }
})

export const previewUsageLimit = route({
  method: 'POST',
  path: '/policies/usage-limits/preview',
  resource: 'usage-limits-policy',
  summary: 'Try a usage-limit policy on the latest logs before it is made',
  permission: 'policies.create',
  flag: 'USAGE_LIMITS_ENABLED',
  effect: 'none',
  costly: () => true,
  body: usageLimitDraft,
  response: draftTried,
})(async ({ em, actor, body }) => {
  const { conditions, group_by: groupBy, type: counts, credit_limit: value, workspace_id, hours } = body
  const { id: workspaceId } = await resolveWorkspace(em, actor, workspace_id)
  const draft = { conditions, groupBy, counts, value, windowMs: null }
  return { object, ...(await tryDraft(em, draft, { organisationId: actor.organisationId, workspaceId, hours, own: ownFiguresOf(actor) })) }
})
