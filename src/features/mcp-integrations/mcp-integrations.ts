import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { demandNoDependants, findDependants, type Dependant } from '../../app/database/dependants.ts'
import { flushUnique, holdSlug } from '../../app/database/find.ts'
import type { Deps } from '../../app/deps.ts'
import type { Actor } from '../../app/route.ts'
import type { Vault } from '../../app/secrets/vault.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { ApiError } from '../../lib/errors.ts'
import { freeSlug, toSlug } from '../../lib/text/slug.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { McpIntegration } from './mcp-integration.entity.ts'
import { changeOAuth, demandOAuth, endGrants, presentOAuth, sealOAuth } from './oauth.ts'
import type { CreateMcpIntegration, UpdateMcpIntegration } from './mcp-integration.schema.ts'

type Headers = Readonly<Record<string, string>>
type Guards = Pick<Deps, 'vault' | 'egress'>

interface Owner {
  readonly id: string
  readonly organisationId: string
}

const place = ({ id, organisationId }: Owner) => ({ organisationId, table: 'mcp_integrations', column: 'custom_headers', rowId: id })

const flatTexts = z.record(z.string(), z.string())

/** Opens the headers of an integration. Throws ApiError `sealed` without the encryption key. */
export async function openHeaders(row: Owner & { readonly customHeaders?: Uint8Array | null | undefined }, vault: Vault): Promise<Headers> {
  return row.customHeaders ? flatTexts.parse(JSON.parse(await vault.decrypt(place(row), row.customHeaders))) : {}
}

async function sealHeaders(owner: Owner, headers: Headers, vault: Vault) {
  const names = Object.keys(headers).toSorted()
  if (names.length === 0) return { customHeaders: null, customHeaderNames: [] }
  return { customHeaders: Buffer.from(await vault.encrypt(place(owner), JSON.stringify(headers))), customHeaderNames: names }
}

/** Stores an integration with its headers sealed. The row is written when it returns. */
export async function addMcpIntegration(
  em: EntityManager,
  { body, workspaceId }: { readonly body: CreateMcpIntegration; readonly workspaceId: string | null },
  { actor, vault, egress }: Guards & { readonly actor: Actor },
): Promise<McpIntegration> {
  const { custom_headers: headers, passthrough_header: passthrough } = body.configurations ?? {}
  demandHeaders(body.auth_type, Object.keys(headers ?? {}))
  await egress.origin(body.url, 'url')
  await demandOAuth(body.auth_type, body.configurations?.oauth ?? null, egress)
  const owner = { id: uuidv7(), organisationId: actor.organisationId }
  const slug = await chooseSlug(em, actor, body)
  const row = em.create(McpIntegration, {
    ...owner,
    workspaceId,
    slug,
    name: body.name,
    description: body.description ?? null,
    url: body.url,
    authType: body.auth_type,
    transport: body.transport,
    passthroughHeaders: passthrough ?? {},
    createdBy: actor.userId ?? actor.id,
    ...(await sealHeaders(owner, headers ?? {}, vault)),
    ...(await sealOAuth(owner, body.configurations?.oauth ?? null, vault)),
  })
  await flushUnique(em, `There is already an MCP integration with the slug "${slug}".`, 'slug')
  return row
}

async function chooseSlug(em: EntityManager, { organisationId }: Actor, { slug, name }: CreateMcpIntegration): Promise<string> {
  const wanted = slug ?? toSlug(name, 'mcp')
  await holdSlug(em, `mcp-integrations:${organisationId}`, wanted)
  if (slug !== undefined) return slug
  return freeSlug(wanted, async (candidate) => (await em.count(McpIntegration, { organisationId, slug: candidate, status: 'active' })) > 0)
}

/** AB01 for a server that takes headers for a sign-in, and has none. */
function demandHeaders(authType: McpIntegration['authType'], names: readonly string[]): void {
  if (authType !== 'headers' || names.length > 0) return
  throw new ApiError('AB01', 'configurations.custom_headers is needed with the auth_type "headers".', {
    param: 'configurations.custom_headers',
  })
}

/** Changes the fields of the body. Headers that stay are never carried over to another host. */
export async function changeMcpIntegration(
  em: EntityManager,
  row: McpIntegration,
  { body, vault, egress }: Guards & { readonly body: UpdateMcpIntegration },
): Promise<void> {
  if (body.url !== undefined) {
    await egress.origin(body.url, 'url')
    demandHeadersAgain(row, { ...body, url: body.url })
  }
  const given = body.configurations
  const headers = given === null ? null : given?.custom_headers
  const passthrough = given === null ? null : given?.passthrough_header
  const names = headers === undefined ? row.customHeaderNames : Object.keys(headers ?? {})
  demandHeaders(body.auth_type ?? row.authType, names)
  await changeOAuth(em, row, { body, vault, egress })
  assignDefined(row, {
    name: body.name,
    description: body.description,
    url: body.url,
    authType: body.auth_type,
    transport: body.transport,
    passthroughHeaders: passthrough === null ? {} : passthrough,
  })
  if (headers !== undefined) assignDefined(row, await sealHeaders(row, headers ?? {}, vault))
}

function demandHeadersAgain(row: McpIntegration, { url, configurations }: UpdateMcpIntegration & { readonly url: string }): void {
  const isKept = configurations !== null && configurations?.custom_headers === undefined
  if (!isKept || row.customHeaderNames.length === 0 || new URL(url).origin === new URL(row.url).origin) return
  const param = 'configurations.custom_headers'
  throw new ApiError('AB01', `A stored credential only goes to the host it was stored with. To change the host, give ${param} again.`, {
    param,
  })
}

const users = `
  SELECT 'mcp_server', id, slug, name, workspace_id FROM mcp_servers WHERE organisation_id = ? AND integration_id = ? AND status = 'active'`

/** Returns the servers of an integration; those of one workspace when it is named. */
export const mcpDependants = (
  em: EntityManager,
  { id, organisationId }: McpIntegration,
  workspaceId: string | null,
): Promise<Dependant[]> => findDependants(em, { sql: users, values: [organisationId, id] }, workspaceId)

/** Deletes an integration, and with it the only copy of its headers. AB07 naming its servers. */
export async function archiveMcpIntegration(em: EntityManager, row: McpIntegration): Promise<void> {
  demandNoDependants('MCP integration', await mcpDependants(em, row, null))
  assignDefined(row, { status: 'archived', customHeaders: null, oauthClientSecret: null })
  await endGrants(em, row.id)
}

const counts = `
  SELECT i.id, count(w.id)::int AS workspaces FROM mcp_integrations i
    JOIN workspaces w ON w.organisation_id = i.organisation_id AND w.status = 'active'
    LEFT JOIN mcp_integration_workspaces g ON g.integration_id = i.id AND g.workspace_id = w.id
   WHERE i.id = ANY (?::uuid[]) AND (i.workspace_id = w.id
      OR (i.workspace_id IS NULL AND coalesce(g.enabled, (i.global_workspace_access ->> 'enabled')::boolean, false)))
   GROUP BY i.id`

/** How many workspaces may use each integration, by its id. */
export async function countMcpWorkspaces(em: EntityManager, rows: readonly McpIntegration[]): Promise<ReadonlyMap<string, number>> {
  if (rows.length === 0) return new Map()
  const found = await em.execute<{ id: string; workspaces: number }[]>(counts, [`{${rows.map(({ id }) => id).join(',')}}`])
  return new Map(found.map(({ id, workspaces }) => [id, workspaces]))
}

/** An integration, but for its secrets. */
export const presentMcpIntegration = (row: McpIntegration) => ({
  id: row.id,
  organisation_id: row.organisationId,
  workspace_id: row.workspaceId ?? null,
  type: row.workspaceId ? ('workspace' as const) : ('organisation' as const),
  slug: row.slug,
  name: row.name,
  description: row.description ?? null,
  owner_id: row.createdBy ?? null,
  status: row.status,
  url: row.url,
  auth_type: row.authType,
  transport: row.transport,
  configurations: {
    custom_header_names: [...row.customHeaderNames],
    passthrough_header: { ...row.passthroughHeaders },
    oauth: presentOAuth(row),
  },
  secret_fields: [
    ...(row.customHeaderNames.length > 0 ? ['custom_headers'] : []),
    ...(row.oauthClientSecret ? ['oauth.client_secret'] : []),
  ],
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
  object: 'mcp_integration' as const,
})
