import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql'
import { byIdOrSlug, orNotFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { Workspace } from '../workspaces/workspace.entity.ts'
import type { AuditLog } from './audit-log.entity.ts'
import type { AuditFilter } from './audit-log.schema.ts'

/** The rows that the caller asks for, and may see. */
export async function wantedRows(em: EntityManager, actor: Actor, filter: AuditFilter): Promise<FilterQuery<AuditLog>> {
  await demandOrganisation(em, actor, filter.organisation_id)
  const workspaceId = await workspaceOf(em, actor, filter.workspace_id)
  const { user_id: userId } = filter
  return {
    organisationId: actor.organisationId,
    ...(workspaceId !== null && { workspaceId }),
    ...timeBetween(filter),
    ...sameAs(filter),
    ...(filter.uri !== undefined && { uri: { $like: `${filter.uri.replaceAll(/[\\%_]/g, String.raw`\$&`)}%` } }),
    ...(userId !== undefined && { $or: [{ userId }, { actorId: userId }] }),
  }
}

async function demandOrganisation(em: EntityManager, { organisationId }: Actor, reference: string | undefined): Promise<void> {
  if (reference === undefined) return
  const found = await em.findOne(Organisation, { $and: [byIdOrSlug(reference), { id: organisationId }] })
  orNotFound(found, 'organisation', { reference, param: 'organisation_id' })
}

/** Finds an archived workspace too: its rows in the trail stay visible. */
async function workspaceOf(em: EntityManager, actor: Actor, reference: string | undefined): Promise<string | null> {
  if (reference === undefined) return actor.workspaceId
  const { organisationId, workspaceId } = actor
  const own = { organisationId, ...(workspaceId !== null && { id: workspaceId }) }
  const found = await em.findOne(Workspace, { $and: [byIdOrSlug(reference), own] })
  return orNotFound(found, 'workspace', { reference, param: 'workspace_id' }).id
}

const timeBetween = ({ start_time, end_time }: AuditFilter) =>
  start_time === undefined && end_time === undefined
    ? {}
    : {
        at: {
          ...(start_time !== undefined && { $gte: new Date(start_time) }),
          ...(end_time !== undefined && { $lt: new Date(end_time) }),
        },
      }

function sameAs(filter: AuditFilter): Readonly<Record<string, unknown>> {
  const wanted = {
    method: filter.method,
    requestId: filter.request_id,
    actorType: filter.user_type,
    responseStatus: filter.response_status_code,
    resourceType: filter.resource_type,
    resourceId: filter.resource_id,
    action: filter.action,
    clientIp: filter.client_ip,
    country: filter.country?.toUpperCase(),
  }
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined))
}
