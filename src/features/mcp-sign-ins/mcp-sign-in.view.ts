import { hash } from 'node:crypto'
import { allowedHostsOf } from '../../app/snapshot/allowed-hosts.ts'
import { type DefaultsRow, requestDefaults } from '../../app/snapshot/request-defaults.ts'
import { stringsOf } from '../../app/snapshot/strings-of.ts'
import { usualLimits, type Views } from '../../app/snapshot/view.ts'
import type { McpSignInView } from '../../gateway/ports/mcp.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'
import { roleIn, type OrganisationRole, type WorkspaceRole } from '../../lib/access/roles.ts'
import { uuidOf } from '../../lib/uuid.ts'
import { limitedColumn, toGatewayLimits, type LimitedRow } from '../limits/index.ts'
import { programScopes } from './program-rights.ts'
import { hashOf } from './storage.ts'

interface SignInRow extends Omit<DefaultsRow, 'defaults'> {
  readonly id: string
  readonly organisationId: string
  readonly workspaceId: string
  readonly workspaceSlug: string
  readonly userId: string
  readonly serverId: string
  readonly clientId: string
  readonly email: string
  readonly organisationRole: OrganisationRole
  readonly workspaceRole: WorkspaceRole | null
  readonly organisationSettings: unknown
  readonly accessOverrides: unknown
  readonly workspaceMetadata: unknown
  readonly workspaceLimited: LimitedRow
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

const byToken = `
  SELECT i.id, i.organisation_id AS "organisationId", i.workspace_id AS "workspaceId", w.slug AS "workspaceSlug", i.user_id AS "userId",
         i.server_id AS "serverId", i.client_id AS "clientId", u.email, u.role AS "organisationRole", m.role AS "workspaceRole",
         o.settings AS "organisationSettings", w.access_overrides AS "accessOverrides", w.defaults -> 'metadata' AS "workspaceMetadata",
         ${limitedColumn('w')} AS "workspaceLimited", w.defaults AS "workspaceDefaults", o.defaults AS "organisationDefaults",
         (SELECT c.id FROM configs c WHERE c.workspace_id = w.id AND c.is_default AND c.status = 'active') AS "workspaceConfig",
         (extract(epoch FROM least(t.expires_at, i.expires_at)) * 1000)::float8 AS "expiresAt"
    FROM mcp_sign_in_secrets t
    JOIN mcp_sign_ins i ON i.id = t.sign_in_id
    JOIN organisations o ON o.id = i.organisation_id
    JOIN workspaces w ON w.id = i.workspace_id
    JOIN users u ON u.id = i.user_id
    LEFT JOIN workspace_members m ON m.user_id = i.user_id AND m.workspace_id = i.workspace_id
   WHERE t.key_hash = $1 AND t.kind = 'AccessToken' AND t.expires_at > now() AND i.expires_at > now()
     AND o.status = 'active' AND w.status = 'active' AND u.status = 'active'`

/** The program with a token, as a key of the person who let it in: it has their rights of now, and only the scope that calls MCP servers. */
export const mcpSignInView: Views['mcpSignIn'] = {
  limits: usualLimits,
  tables: ['mcp_sign_ins'],
  key: (token) => hash('sha256', token, 'base64'),
  find(token, address, { vault }) {
    const keyHash = hashOf(vault, token)
    return {
      address,
      isKnown: () => false,
      async read(ask) {
        const [row] = await ask<SignInRow>({ name: 'mcp-sign-in-by-token', text: byToken, values: [keyHash] })
        if (row === undefined) return null
        const { id, organisationId, workspaceId, userId, serverId } = row
        return { view: toView(row), dependsOn: [id, organisationId, workspaceId, userId, serverId], until: Infinity }
      },
    }
  },
}

function toView(row: SignInRow): McpSignInView {
  const { id, organisationId, workspaceId, workspaceSlug, userId, serverId, organisationSettings, expiresAt } = row
  const settings = effectiveSettings(organisationSettings, row.accessOverrides)
  const role = roleIn(row.organisationRole, row.workspaceRole)
  const key: McpSignInView['key'] = {
    // A person who lets programs in again and again begins no counter of a policy anew.
    id: uuidOf(`mcp-sign-in:${userId}:${serverId}`),
    type: 'workspace-user',
    name: row.email,
    organisationId,
    workspaceId,
    workspaceSlug,
    userId,
    role,
    scopes: programScopes({ role, ...row }),
    settings,
    allowedHosts: allowedHostsOf(organisationSettings),
    expiresAt,
    status: 'active',
    metadata: stringsOf(row.workspaceMetadata),
    defaults: requestDefaults('workspace-user', { ...row, defaults: null }),
    limits: toGatewayLimits({ kind: 'workspace', id: workspaceId, organisationId, ...row.workspaceLimited }),
  }
  return { id, key, serverId, client: new URL(row.clientId).host }
}
