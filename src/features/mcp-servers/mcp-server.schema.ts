import { z } from 'zod'
import { listFields, listOf, searchField, usualSorts } from '../../lib/paging.ts'
import { toReference } from '../../lib/is-uuid.ts'
import { nameField, slugField } from '../../lib/text/slug.ts'
import { textField } from '../../lib/text/text.ts'
import { whileOn } from '../../release/since.ts'
import { toldFields } from '../mcp-integrations/index.ts'
import { accesses, discoveries, pinnings } from './mcp-server.entity.ts'

const rules = {
  default_access: z.enum(accesses).optional().meta({
    description: 'Whether callers may use tools, prompts and resources that are not switched on or off by name. `deny` when created.',
  }),
  discovery: z.enum(discoveries).optional().meta({
    description: 'How clients find tools: `full` lists all, `search` lists two tools that find and call the others. `full` when created.',
  }),
  pinning: z.enum(pinnings).optional().meta({
    description:
      'On a tool that is new or changed: `hold` waits for an approval, `flag` tells of it and goes on, `off` does neither. `flag` when created.',
  }),
}

/** US dollars. Digits beyond the ninth have no meaning for budgets. */
export const priceField = z
  .number()
  .min(0)
  .max(1_000_000)
  .refine((given) => Number(given.toFixed(9)) === given, 'At most nine digits behind the point.')
  .nullable()

const toolPrice = priceField.meta({
  description: 'US dollars for one call of a tool that has no price of its own. Null: it is free.',
})

const guardrails = (what: string) =>
  whileOn(
    'GUARDRAILS_ENABLED',
    z
      .array(z.string().min(1).max(255).overwrite(toReference))
      .max(100)
      .optional()
      .meta({ description: `Guardrails that look at the ${what}, by slug or id, before those of the workspace.` }),
  )

const ownGuardrails = { input_guardrails: guardrails('arguments of calls'), output_guardrails: guardrails('results of calls') }

const description = textField(500).nullable().optional()

export const createMcpServerBody = z
  .strictObject({
    workspace_id: z.string().min(1).max(255).optional(),
    name: nameField,
    description,
    mcp_integration_id: z.string().min(1).max(255).meta({ description: 'Id or slug.' }),
    slug: slugField.min(3).max(50).optional(),
    tool_price: toolPrice.optional(),
    ...ownGuardrails,
    ...rules,
  })
  .meta({ id: 'CreateMcpServer', description: "A workspace's new handle on an MCP integration." })

export type CreateMcpServer = z.output<typeof createMcpServerBody>

export const updateMcpServerBody = z
  .strictObject({ name: nameField.optional(), description, tool_price: toolPrice.optional(), ...ownGuardrails, ...rules })
  .meta({ id: 'UpdateMcpServer', description: 'The fields to change. Absent fields stay as they are, null clears a field.' })

export const mcpServerParams = z.object({ mcpServerId: z.string() })
export const inWorkspace = z.object({
  workspace_id: z.string().optional().meta({ description: 'For a slug; the default workspace unless given.' }),
})

export const mcpServerFilter = z.object({
  ...listFields({ sorts: usualSorts, sort: '-created_at', defaultSize: 100 }),
  search: searchField('the name'),
  workspace_id: z.string().optional(),
  id: z.string().max(255).optional().meta({ description: 'Only this server, by its id or slug.' }),
})

const shown = {
  id: z.uuid(),
  organisation_id: z.uuid(),
  workspace_id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  owner_id: z.string().nullable().meta({ description: 'The key or user that made it.' }),
  status: z.enum(['active', 'archived']),
  default_access: z.enum(accesses),
  default_user_access: z.enum(accesses),
  pinning: z.enum(pinnings),
  discovery: z.enum(discoveries),
  tool_price: toolPrice,
  input_guardrails: z.array(z.string()),
  output_guardrails: z.array(z.string()),
  mcp_integration_id: z.uuid(),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  url: z.string().meta({ description: 'The endpoint for clients.' }),
  object: z.literal('mcp_server'),
}

export const mcpServerList = listOf(
  z
    .object({
      ...shown,
      ...toldFields,
      mcp_integration_slug: z.string(),
      mcp_integration_url: z.string(),
      auth_type: z.string(),
      workspace_name: z.string(),
      workspace_slug: z.string(),
    })
    .meta({ id: 'McpServerItem', description: "A workspace's handle on an MCP integration." }),
).meta({ id: 'McpServerList', description: 'MCP servers, newest first.' })

export const mcpServerView = z
  .object({
    ...shown,
    mcp_integration_details: z.object({
      id: z.uuid(),
      slug: z.string(),
      status: z.string(),
      url: z.string(),
      transport: z.string(),
      auth_type: z.string(),
      configurations: z.object({
        custom_header_names: z.array(z.string()),
        passthrough_header: z.record(z.string(), z.string()),
      }),
    }),
  })
  .meta({ id: 'McpServer', description: "A workspace's handle on an MCP integration, in full." })
