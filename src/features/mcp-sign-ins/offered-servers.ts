import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import { ownOrigin } from '../../app/own-origin.ts'
import { invokeScope } from '../../gateway/ports/mcp.ts'
import { roleIn, type OrganisationRole, type WorkspaceRole } from '../../lib/access/roles.ts'
import { type PersonPlace, programScopes, signInLife } from './program-rights.ts'
import { serverPathOf } from './resources.ts'

/** A server that a person may let a program use. */
export interface OfferedServer {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly workspaceId: string
  readonly workspaceSlug: string
  readonly workspaceName: string
  /** How long a sign-in lasts there. */
  readonly lifeMs: number
}

interface OfferedRow extends Omit<OfferedServer, 'lifeMs'>, Omit<PersonPlace, 'role'> {
  readonly role: OrganisationRole
  readonly workspaceRole: WorkspaceRole | null
}

/** One address names a server in each workspace that has one of this slug. */
const most = 20

const offered = `
  SELECT s.id, s.slug, s.name, w.id AS "workspaceId", w.slug AS "workspaceSlug", w.name AS "workspaceName", w.access_overrides AS "accessOverrides",
         w.defaults -> 'metadata' AS "workspaceMetadata", o.settings AS "organisationSettings", u.role, m.role AS "workspaceRole"
    FROM mcp_servers s
    JOIN mcp_integrations i ON i.id = s.integration_id
    JOIN workspaces w ON w.id = s.workspace_id
    JOIN organisations o ON o.id = s.organisation_id
    JOIN users u ON u.id = ? AND u.organisation_id = s.organisation_id AND u.status = 'active'
    LEFT JOIN workspace_members m ON m.workspace_id = w.id AND m.user_id = u.id
    LEFT JOIN mcp_integration_workspaces g ON g.integration_id = i.id AND g.workspace_id = s.workspace_id
    LEFT JOIN mcp_server_users a ON a.server_id = s.id AND a.user_id = u.id
   WHERE s.organisation_id = ? AND (s.slug = ? OR s.id::text = lower(?)) AND (?::text IS NULL OR w.slug = ? OR w.id::text = lower(?))
     AND s.status = 'active' AND i.status = 'active' AND w.status = 'active'
     AND coalesce(i.workspace_id = s.workspace_id, g.enabled, (i.global_workspace_access ->> 'enabled')::boolean, false)
     AND coalesce(a.enabled, s.default_user_access = 'allow')
   ORDER BY w.is_default DESC, w.created_at, w.id LIMIT ${most}`

interface ServerRequest {
  readonly organisationId: string
  readonly userId: string
  /** The address of the server as the program names it. */
  readonly resource: string
}

/** Returns the servers that an address names and that a person may use, by the rules that calls meet later. */
export const offeredServers = async (
  em: EntityManager,
  deps: Pick<Deps, 'config'>,
  asked: ServerRequest,
): Promise<readonly OfferedServer[]> => (await reachedServers(em, deps, asked)).filter(({ place }) => programScopes(place).has(invokeScope))

/** Returns whether a person lets no program in because they may make no key for themselves, although they may use a server at this address. */
export async function letsNoneIn(em: EntityManager, deps: Pick<Deps, 'config'>, asked: ServerRequest): Promise<boolean> {
  const reached = await reachedServers(em, deps, asked)
  return reached.some(({ place: { role } }) => role !== null) && reached.every(({ place }) => !programScopes(place).has(invokeScope))
}

/** Returns whether a person may use a server, whatever keys they may make. */
export async function mayReach(
  em: EntityManager,
  deps: Pick<Deps, 'config'>,
  { organisationId, userId, serverId }: Omit<ServerRequest, 'resource'> & { readonly serverId: string },
): Promise<boolean> {
  const resource = `${ownOrigin(deps.config).replace(/\/$/, '')}/${serverId}/mcp`
  const reached = await reachedServers(em, deps, { organisationId, userId, resource })
  return reached.some(({ id, place: { role } }) => id === serverId && role !== null)
}

interface ReachedServer extends OfferedServer {
  readonly place: PersonPlace
}

async function reachedServers(
  em: EntityManager,
  { config }: Pick<Deps, 'config'>,
  { organisationId, userId, resource }: ServerRequest,
): Promise<readonly ReachedServer[]> {
  const path = serverPathOf(config, resource)
  if (path === null) return []
  const { server, workspace } = path
  const rows = await em.execute<OfferedRow[]>(offered, [userId, organisationId, server, server, workspace, workspace, workspace])
  return rows.map((row) => {
    const { organisationSettings, accessOverrides, workspaceMetadata } = row
    const place = { role: roleIn(row.role, row.workspaceRole), organisationSettings, accessOverrides, workspaceMetadata }
    return Object.assign(row, { place, lifeMs: signInLife(place) })
  })
}
