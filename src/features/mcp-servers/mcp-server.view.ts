import { documentLimits, longestSlug, type Views } from '../../app/snapshot/view.ts'
import { weightOf } from '../../app/snapshot/view-cache.ts'
import { type CapabilityRule, type McpAuth, type McpRules, toMcpServer } from '../../gateway/ports/mcp.ts'
import type { McpServer } from '../../gateway/ports.ts'
import { parsePico } from '../../lib/pico.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { openHeaders } from '../mcp-integrations/index.ts'

interface ServerRow extends Pick<
  McpServer,
  | 'id'
  | 'slug'
  | 'name'
  | 'organisationId'
  | 'workspaceId'
  | 'workspaceSlug'
  | 'integrationId'
  | 'url'
  | 'transport'
  | 'era'
  | 'discovery'
  | 'inputGuardrails'
  | 'outputGuardrails'
> {
  readonly authType: McpAuth['type']
  readonly customHeaders: Buffer | null
  readonly passthroughHeaders: Readonly<Record<string, string>>
  readonly defaultAccess: McpRules['defaultAccess']
  readonly defaultUserAccess: McpRules['defaultUserAccess']
  readonly pinning: McpRules['pinning']
  /** US dollars as decimal texts. */
  readonly toolPrice: string | null
  readonly capabilities: readonly (Omit<CapabilityRule, 'price'> & { readonly price: string | null })[] | null
  readonly users: readonly { readonly id: string; readonly enabled: boolean }[] | null
}

/** An approved definition is read where another may have come. */
const approved = `CASE WHEN s.pinning = 'hold' OR r.rejected_hash IS NOT NULL THEN r.pinned_definition END`

/** Null where one of both hashes is. */
const hashes = (hash: string, input: string) =>
  `CASE WHEN ${hash} IS NOT NULL THEN json_build_object('hash', ${hash}, 'inputHash', ${input}) END`

const servers = (whose: string, which: string) => `
  SELECT s.id, s.slug, s.name, s.organisation_id AS "organisationId", s.workspace_id AS "workspaceId", w.slug AS "workspaceSlug",
         s.default_access AS "defaultAccess", s.default_user_access AS "defaultUserAccess", s.pinning,
         s.tool_price::text AS "toolPrice", s.discovery, s.input_guardrails AS "inputGuardrails", s.output_guardrails AS "outputGuardrails", i.id AS "integrationId", i.url, i.transport, i.era, i.auth_type AS "authType", i.custom_headers AS "customHeaders",
         i.passthrough_headers AS "passthroughHeaders",
         (SELECT json_agg(json_build_object('kind', coalesce(c.type, r.type), 'name', coalesce(c.name, r.name),
                   'integrationEnabled', coalesce(c.enabled, true), 'enabled', r.enabled, 'rejectedHash', r.rejected_hash, 'price', r.price::text, 'tokens', CASE WHEN c.is_removed THEN 0 ELSE coalesce(c.tokens, 0) END,
                   'seen', ${hashes('c.hash', 'c.input_hash')}, 'pinned', ${hashes('r.pinned_hash', 'r.pinned_input_hash')},
                   'approved', ${approved}))
            FROM (SELECT * FROM mcp_capabilities WHERE integration_id = i.id) c
            FULL JOIN (SELECT * FROM mcp_server_capabilities WHERE server_id = s.id) r ON r.type = c.type AND r.name = c.name) AS capabilities,
         (SELECT json_agg(json_build_object('id', u.user_id, 'enabled', u.enabled)) FROM mcp_server_users u WHERE u.server_id = s.id) AS users
    FROM mcp_servers s
    JOIN mcp_integrations i ON i.id = s.integration_id
    JOIN workspaces w ON w.id = s.workspace_id
    JOIN organisations o ON o.id = s.organisation_id
    LEFT JOIN mcp_integration_workspaces g ON g.integration_id = i.id AND g.workspace_id = s.workspace_id
   WHERE s.organisation_id = $1 AND ${whose} AND ${which}
     AND s.status = 'active' AND i.status = 'active' AND w.status = 'active' AND o.status = 'active'
     AND coalesce(i.workspace_id = s.workspace_id, g.enabled, (i.global_workspace_access ->> 'enabled')::boolean, false)
   LIMIT 1`

/** The ways in which a workspace and a server are named, each a query with one plan. */
const workspaceNames = { default: '$2::text IS NULL AND w.is_default', id: 'w.id = $2::uuid', slug: 'w.slug = $2' } as const
const serverNames = { id: 's.id = $3::uuid', slug: 's.slug = $3' } as const

function queryFor(workspace: string | null, reference: string) {
  const whose = workspace === null ? 'default' : isUuid(workspace) ? 'id' : 'slug'
  const which = isUuid(reference) ? 'id' : 'slug'
  return { name: `mcp-server-${whose}-${which}`, text: servers(workspaceNames[whose], serverNames[which]) }
}

/** The server that a workspace sees under a slug or id, with the rights on it. */
export const mcpServerView: Views['mcpServer'] = {
  limits: documentLimits,
  tables: ['mcp_servers', 'mcp_integrations'],
  key: ({ organisationId, workspace }, reference) =>
    reference.length > longestSlug || (workspace?.length ?? 0) > longestSlug ? null : `${organisationId}/${workspace ?? ''}/${reference}`,
  find: ({ organisationId, workspace }, reference, { vault, opened }) => ({
    async read(ask) {
      const [row] = await ask<ServerRow>({ ...queryFor(workspace, reference), values: [organisationId, workspace, reference] })
      if (row === undefined) return null
      const {
        id,
        slug,
        name,
        workspaceId,
        workspaceSlug,
        integrationId,
        url,
        transport,
        era,
        passthroughHeaders,
        discovery,
        inputGuardrails,
        outputGuardrails,
      } = row
      const sealed = { id: integrationId, organisationId: row.organisationId, customHeaders: row.customHeaders }
      const headers = await opened(slug, () => openHeaders(sealed, vault))
      const own = { id, slug, name, organisationId: row.organisationId, workspaceId, workspaceSlug, integrationId, url, transport, era }
      const view = toMcpServer(
        { ...own, passthroughHeaders, discovery, inputGuardrails, outputGuardrails, status: 'active', ...signIn(row.authType, headers) },
        rulesOf(row),
      )
      const weight = weightOf(JSON.stringify(row.capabilities ?? []), (row.users?.length ?? 0) * 100)
      return { view, dependsOn: [id, integrationId, workspaceId, row.organisationId], until: Infinity, weight, owner: row.organisationId }
    },
  }),
}

const signIn = (type: McpAuth['type'], headers: Readonly<Record<string, string>>): Pick<McpServer, 'auth' | 'headers'> =>
  type === 'headers' ? { auth: { type, headers }, headers: {} } : { auth: { type }, headers }

const rulesOf = ({ defaultAccess, defaultUserAccess, pinning, toolPrice, capabilities, users }: ServerRow): McpRules => ({
  defaultAccess,
  defaultUserAccess,
  pinning,
  toolPrice: toPrice(toolPrice),
  capabilities: (capabilities ?? []).map((rule) => Object.assign({}, rule, { price: toPrice(rule.price) })),
  users: new Map((users ?? []).map(({ id, enabled }) => [id, enabled])),
})

const toPrice = (text: string | null): bigint | null => (text === null ? null : parsePico(text))
