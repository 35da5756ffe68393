import { hash } from 'node:crypto'
import type { Pool } from 'pg'
import type { TokenHolder, TokenIssuer } from '../../gateway/ports.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { roleIn, type OrganisationRole, type WorkspaceRole } from '../../lib/access/roles.ts'
import { tokenSettings } from '../../lib/access/token-settings.ts'
import { allowedHostsOf } from './allowed-hosts.ts'
import { type DefaultsRow, requestDefaults } from './request-defaults.ts'
import { stringsOf } from './strings-of.ts'
import type { Loaded } from './view-cache.ts'

/** What a holder whom the organisation does not know depends on: it may come to know them by any change of a user. */
export const anyPerson = 'any person'

const issuerById = `SELECT o.settings -> 'jwt' AS settings FROM organisations o WHERE o.id = $1 AND o.status = 'active'`

/** Reads how the tokens of an organisation are verified; null when there is no such organisation. */
export async function readTokenIssuer(pool: Pool, organisationId: string): Promise<Loaded<TokenIssuer> | null> {
  const { rows } = await pool.query<{ settings: unknown }>({ name: 'token-issuer', text: issuerById, values: [organisationId] })
  const [row] = rows
  if (row === undefined) return null
  const stored = tokenSettings.safeParse(row.settings)
  const version = hash('sha256', `${organisationId} ${JSON.stringify(row.settings)}`, 'base64')
  return {
    view: { organisationId, settings: stored.success ? stored.data : null, version },
    dependsOn: [organisationId],
    until: Infinity,
  }
}

interface HolderRow extends DefaultsRow {
  readonly workspaceId: string
  readonly workspaceSlug: string
  readonly workspaceMetadata: unknown
  readonly accessOverrides: unknown
  readonly userId: string | null
  readonly userStatus: 'active' | 'archived' | null
  readonly organisationRole: OrganisationRole | null
  readonly workspaceRole: WorkspaceRole | null
}

/** Of several users with one address at most one is active; who was removed is known until they are invited again. */
const holder = (key: string) => `
  SELECT w.id AS "workspaceId", w.slug AS "workspaceSlug", w.defaults -> 'metadata' AS "workspaceMetadata",
         w.access_overrides AS "accessOverrides", o.settings AS "organisationSettings", NULL AS defaults,
         w.defaults AS "workspaceDefaults", o.defaults AS "organisationDefaults",
         (SELECT c.id FROM configs c WHERE c.workspace_id = w.id AND c.is_default AND c.status = 'active') AS "workspaceConfig",
         u.id AS "userId", u.status AS "userStatus", u.role AS "organisationRole", m.role AS "workspaceRole"
    FROM workspaces w
    JOIN organisations o ON o.id = w.organisation_id
    LEFT JOIN LATERAL (SELECT id, status, role FROM users
                        WHERE organisation_id = o.id AND email = $3::text ORDER BY status = 'active' DESC LIMIT 1) u ON true
    LEFT JOIN workspace_members m ON m.user_id = u.id AND m.workspace_id = w.id
   WHERE o.id = $1 AND ${key} AND w.status = 'active' AND o.status = 'active'`
const queries = {
  id: { name: 'token-holder-by-id', text: holder('w.id = $2') },
  slug: { name: 'token-holder-by-slug', text: holder('w.slug = $2') },
}

/** Reads where the holder of a token acts, and who it is there; null when the organisation has no such workspace. */
export async function readTokenHolder(
  pool: Pool,
  organisationId: string,
  { workspace, email }: { readonly workspace: string; readonly email: string | null },
): Promise<Loaded<TokenHolder> | null> {
  const query = isUuid(workspace) ? queries.id : queries.slug
  const { rows } = await pool.query<HolderRow>({ ...query, values: [organisationId, workspace, email] })
  const [row] = rows
  if (row === undefined) return null
  const person = [...(row.userId === null ? [] : [row.userId]), ...(row.userStatus === 'active' ? [] : [anyPerson])]
  return { view: toHolder(organisationId, row), dependsOn: [organisationId, row.workspaceId, ...person], until: Infinity }
}

const toHolder = (organisationId: string, row: HolderRow): TokenHolder => ({
  organisationId,
  workspaceId: row.workspaceId,
  workspaceSlug: row.workspaceSlug,
  settings: effectiveSettings(row.organisationSettings, row.accessOverrides),
  allowedHosts: allowedHostsOf(row.organisationSettings),
  metadata: stringsOf(row.workspaceMetadata),
  defaults: requestDefaults('workspace-user', row),
  person: toPerson(row),
})

function toPerson({ userId, userStatus, organisationRole, workspaceRole }: HolderRow): TokenHolder['person'] {
  if (userId === null || organisationRole === null) return null
  return { userId, role: roleIn(organisationRole, workspaceRole), removed: userStatus !== 'active' }
}
