import { eventually } from '../../support/eventually.ts'
import { ask, type RawAnswer } from '../../support/mcp/raw-client.ts'
import type { Answer, Control, Tenant } from './setup.ts'

/** Makes a request of an administrator that must succeed. */
export async function must({ control, tenant }: McpTenant, method: string, path: string, body?: object): Promise<Answer['body']> {
  const answer = await control.call(tenant.adminKey, method, path, body)
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.text}`)
  return answer.body
}

export interface McpTenant {
  readonly control: Control
  readonly tenant: Tenant
}

/** Stores a server under a slug, all of whose tools may be used. */
export async function storeServer(owner: McpTenant, slug: string, url: string, fields: object = {}): Promise<void> {
  await must(owner, 'POST', '/mcp-integrations', { name: slug, slug, url, auth_type: 'none', transport: 'http' })
  await must(owner, 'PUT', `/mcp-integrations/${slug}/workspaces`, { workspaces: [], global_workspace_access: { enabled: true } })
  await must(owner, 'POST', '/mcp-servers', {
    name: slug,
    slug,
    mcp_integration_id: slug,
    default_access: 'allow',
    pinning: 'off',
    ...fields,
  })
}

/** Calls a tool as a modern client. */
export const callTool = (
  control: Control,
  server: string,
  key: string,
  name: string,
  args: object = {},
  headers: object = {},
): Promise<RawAnswer> =>
  ask(
    `${control.origin}/${server}/mcp`,
    'tools/call',
    { name, arguments: args },
    { headers: { authorization: `Bearer ${key}`, ...headers }, capabilities: { elicitation: {} } },
  )

export type LogRow = Readonly<Record<string, unknown>>

/** Returns the logs of a key's calls, oldest first, once there are so many. */
export async function logsOf({ control, tenant }: McpTenant, server: string, count: number): Promise<readonly LogRow[]> {
  let rows: readonly LogRow[] = []
  await eventually(
    async () => {
      const found = await control.sql.query<LogRow>(
        "SELECT * FROM logs WHERE operation = 'mcp' AND organisation_id = $1 AND provider_slug = $2 ORDER BY created_at",
        [tenant.organisationId, server],
      )
      rows = found.rows
      return rows.length >= count
    },
    10_000,
    'the logs of the calls',
  )
  return rows
}
