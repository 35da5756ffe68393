import { z } from 'zod'
import { listFields, pageView, searchField, type Sorts } from '../../lib/paging.ts'
import {
  capabilityName,
  capabilityPage,
  capabilityType,
  countsField,
  definitionFields,
  maxSettings,
  seenFields,
} from '../mcp-integrations/index.ts'
import { accesses } from './mcp-server.entity.ts'
import { inWorkspace, priceField } from './mcp-server.schema.ts'

const statuses = ['approved', 'held', 'flagged', 'rejected', 'removed', 'unseen'] as const

export const serverCapabilityPage = inWorkspace.extend({
  ...capabilityPage,
  status: z.enum(statuses).optional().meta({ description: 'Only those that stand like this.' }),
})

const hash = z.string().min(1).max(100)

const setting = z
  .strictObject({
    name: capabilityName,
    type: capabilityType,
    enabled: z.boolean(),
    hash: hash.optional().meta({ description: 'The definition that was seen: it is approved too. 409 when it has moved on.' }),
    price: priceField.optional().meta({ description: 'US dollars for one call of the tool. Null: that of the server. Absent: as it is.' }),
  })
  .superRefine(({ type, price }, context) => {
    if (type !== 'tool' && typeof price === 'number')
      context.addIssue({ code: 'custom', path: ['price'], message: 'Only tools have a price.' })
  })

export const updateServerCapabilitiesBody = z
  .strictObject({ capabilities: z.array(setting).min(1).max(maxSettings) })
  .meta({ id: 'UpdateMcpServerCapabilities', description: 'Switches tools, prompts and resources of a server on or off.' })

export type CapabilitySetting = z.output<typeof setting>

const { hash: _, ...seen } = seenFields

export const serverCapabilities = z
  .object({
    ...pageView,
    data: z.array(
      z.object({
        ...definitionFields,
        hash: z.string().nullable().meta({ description: 'Of the definition that was seen last; null: no sync has found it.' }),
        tokens: seen.tokens.nullable(),
        first_seen_at: seen.first_seen_at.nullable(),
        changed_at: seen.changed_at.nullable(),
        enabled: z.boolean().meta({ description: "By its own setting, or by the server's default." }),
        has_override: z.boolean().meta({ description: 'Whether it has a setting of its own.' }),
        integration_enabled: z.boolean(),
        price: z.number().nullable().meta({ description: 'US dollars for one call of the tool. Null: that of the server, `tool_price`.' }),
        status: z.enum(statuses).meta({
          description:
            '`held`: its definition is new or changed, and waits for an approval; `flagged`: it is so, and is used all the same; `unseen`: no sync has found it.',
        }),
        serves_approved: z.boolean().meta({
          description: 'Held or rejected, and callable: the definition that was approved goes on, since the input is unchanged.',
        }),
        approved_hash: z.string().nullable(),
      }),
    ),
    counts: countsField,
  })
  .meta({ id: 'McpServerCapabilities', description: 'The tools, prompts and resources of a server, by name.' })

export const userAccessPage = inWorkspace.extend({
  ...listFields({ sorts: { id: 'id' }, sort: 'id', defaultSize: 100 }),
  page: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .meta({ description: 'The page, counted from 1; `current_page` counts from 0.' }),
  search: searchField('the names or the address'),
})

const access = z.strictObject({ user_id: z.uuid(), enabled: z.boolean() })

export const updateUserAccessBody = z
  .strictObject({
    user_access: z.array(access).max(maxSettings).optional(),
    default_user_access: z.enum(accesses).optional(),
  })
  .meta({ id: 'UpdateMcpServerUserAccess', description: 'Which members of the workspace may use the server. A service key is no user.' })

export const userAccessList = z
  .object({
    ...pageView,
    default_user_access: z.enum(accesses).meta({ description: 'For members without a setting of their own.' }),
    data: z.array(
      z.object({
        user_id: z.uuid(),
        email: z.string(),
        first_name: z.string().nullable(),
        last_name: z.string().nullable(),
        enabled: z.boolean(),
        has_override: z.boolean(),
        connection_status: z.enum(['connected', 'not_connected']),
      }),
    ),
  })
  .meta({ id: 'McpServerUserAccess', description: 'The members of the workspace, and whether they may use the server.' })

export const connectionSorts = { user_id: 'userId' } as const satisfies Sorts

export const connectionFilter = inWorkspace.extend({
  ...listFields({ sorts: connectionSorts, sort: 'user_id', defaultSize: 100 }),
  user_id: z.string().max(255).optional(),
})

export const connectionList = z
  .object({
    ...pageView,
    data: z.array(z.object({ user_id: z.uuid(), connected: z.boolean(), created_at: z.iso.datetime(), last_updated_at: z.iso.datetime() })),
  })
  .meta({ id: 'McpServerConnections', description: 'The people who have signed in at the server by OAuth.' })

export const connectionQuery = inWorkspace.extend({
  user_id: z.uuid().optional().meta({ description: 'Whose connection; all unless given.' }),
})
