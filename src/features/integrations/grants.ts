import type { EntityManager } from '@mikro-orm/postgresql'
import { holdSlug, notFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { ApiError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import type { Level } from '../../release/level.ts'
import { demandReactivation } from '../limits/index.ts'
import { Workspace } from '../workspaces/workspace.entity.ts'
import type { UpdateGrants, WorkspaceGrant } from './grants.schema.ts'
import { IntegrationWorkspace } from './integration-workspace.entity.ts'
import type { Integration } from './integration.entity.ts'

const ownedBy = ({ id, organisationId }: Integration) => ({ integrationId: id, organisationId })

/** Returns the access of a workspace to an integration: its own, or the organisation's by the grant for this workspace, else for all. */
async function accessOf(em: EntityManager, integration: Integration, workspaceId: string): Promise<'given' | 'refused' | 'not given'> {
  if (integration.workspaceId) return integration.workspaceId === workspaceId ? 'given' : 'refused'
  const row = await em.findOne(IntegrationWorkspace, { ...ownedBy(integration), workspaceId })
  if (row !== null) return row.enabled ? 'given' : 'refused'
  return integration.globalWorkspaceAccess?.enabled === true ? 'given' : 'not given'
}

/**
 * Refuses a caller that would use an integration in a workspace without access. An organisation key that may change integrations gives access by
 * using it, unless the workspace is kept out.
 */
export async function demandAccess(em: EntityManager, actor: Actor, { integration, workspaceId }: Grant): Promise<void> {
  await holdSlug(em, `integration-access:${integration.id}`, workspaceId)
  const access = await accessOf(em, integration, workspaceId)
  if (access === 'given') return
  if (access === 'refused' || !actor.permissions.has('organisation_integrations.update'))
    throw new ApiError(
      'AB03',
      `The workspace has no access to this integration. PUT /v1/integrations/${integration.slug}/workspaces gives it.`,
      {
        param: 'integration_id',
      },
    )
  giveAccess(em, { integration, workspaceId })
}

interface Grant {
  readonly integration: Integration
  readonly workspaceId: string
}

/** Gives a workspace access to an integration of the organisation. */
export const giveAccess = (em: EntityManager, { integration, workspaceId }: Grant): IntegrationWorkspace =>
  em.create(IntegrationWorkspace, { ...ownedBy(integration), workspaceId })

/** A workspace that is to have a provider of the integration. */
export interface NeedsProvider {
  readonly workspaceId: string
  readonly slug: string | undefined
}

interface Change {
  readonly body: UpdateGrants
  readonly nowMs: number
  readonly level: Pick<Level, 'atLeast'>
}

/** Changes the access; returns the workspaces that are to get a provider. */
export async function updateGrants(
  em: EntityManager,
  integration: Integration,
  { body, nowMs, level }: Change,
): Promise<readonly NeedsProvider[]> {
  const named = await namedWorkspaces(em, integration, body.workspaces ?? [])
  const rows = new Map((await em.find(IntegrationWorkspace, ownedBy(integration))).map((row) => [row.workspaceId, row]))
  if (overrides(body)) for (const row of rows.values()) if (!named.has(row.workspaceId)) em.remove(row)
  for (const [at, [workspaceId, given]] of [...named].entries()) {
    const row = rows.get(workspaceId)
    const change = { kind: 'integration-workspace', wanted: given.usage_limits, reset: given.reset_usage } as const
    if (row !== undefined) await demandReactivation(em, level, { ...change, row, param: `workspaces[${at}].usage_limits` })
  }
  for (const [workspaceId, given] of named) changeGrant(rows.get(workspaceId) ?? giveAccess(em, { integration, workspaceId }), given, nowMs)
  if (body.global_workspace_access !== undefined) integration.globalWorkspaceAccess = body.global_workspace_access
  await em.flush()
  return wantedProviders(em, integration, { body, named })
}

const overrides = (body: UpdateGrants): boolean =>
  body.override_existing_workspace_access || body.override_existing_workspaces_access === true

function changeGrant(row: IntegrationWorkspace, given: WorkspaceGrant, nowMs: number): void {
  assignDefined(row, {
    enabled: given.enabled,
    usageLimits: given.usage_limits,
    rateLimits: given.rate_limits,
    usageResetAt: given.reset_usage === true ? new Date(nowMs) : undefined,
  })
}

type GrantsByWorkspace = ReadonlyMap<string, WorkspaceGrant>

/** By the ids of the workspaces. */
async function namedWorkspaces(
  em: EntityManager,
  { organisationId }: Integration,
  grants: readonly WorkspaceGrant[],
): Promise<GrantsByWorkspace> {
  const references = grants.map(({ id }) => id)
  const ids = references.filter(isUuid).map((id) => id.toLowerCase())
  const rows = await em.find(Workspace, { organisationId, status: 'active', $or: [{ id: { $in: ids } }, { slug: { $in: references } }] })
  const byReference = new Map(rows.flatMap(({ id, slug }) => [[id, id] as const, [slug, id] as const]))
  const named = new Map<string, WorkspaceGrant>()
  for (const [at, grant] of grants.entries()) {
    const id = byReference.get(isUuid(grant.id) ? grant.id.toLowerCase() : grant.id)
    if (id === undefined) throw notFound('workspace', grant.id, `workspaces[${at}].id`)
    if (named.has(id)) throw new ApiError('AB01', `The workspace "${grant.id}" comes twice.`, { param: `workspaces[${at}].id` })
    named.set(id, grant)
  }
  return named
}

interface GrantChanges {
  readonly body: UpdateGrants
  readonly named: GrantsByWorkspace
}

async function wantedProviders(
  em: EntityManager,
  integration: Integration,
  { body, named }: GrantChanges,
): Promise<readonly NeedsProvider[]> {
  const wanted = [...named].flatMap(([workspaceId, given]) =>
    given.enabled && (given.create_default_provider ?? body.create_default_provider)
      ? [{ workspaceId, slug: given.default_provider_slug ?? body.default_provider_slug }]
      : [],
  )
  if (body.global_workspace_access?.enabled !== true || !body.create_default_provider) return wanted
  const said = await em.find(IntegrationWorkspace, ownedBy(integration), { fields: ['workspaceId'] })
  const others = await em.find(Workspace, {
    organisationId: integration.organisationId,
    status: 'active',
    id: { $nin: said.map(({ workspaceId }) => workspaceId) },
  })
  return [...wanted, ...others.map(({ id }) => ({ workspaceId: id, slug: body.default_provider_slug }))]
}
