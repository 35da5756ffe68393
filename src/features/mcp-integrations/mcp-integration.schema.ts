import { z } from 'zod'
import { usedByField, usedByQuery } from '../../app/database/dependants.ts'
import { secretField } from '../../lib/json/secret-fields.ts'
import { listFields, listOf, searchField, usualSorts } from '../../lib/paging.ts'
import { headerName, headerValue, sentHeaderName } from '../../lib/text/header-fields.ts'
import { nameField, slugField } from '../../lib/text/slug.ts'
import { isStorable, textField } from '../../lib/text/text.ts'
import { namesNoUser, userFault } from '../../lib/text/url-user.ts'
import { authTypes, transports } from './mcp-integration.entity.ts'
import { toldFields } from './metadata.schema.ts'

const mostHeaders = 50

const few = <Fields extends Readonly<Record<string, unknown>>>(schema: z.ZodType<Fields>) =>
  schema.refine((headers) => Object.keys(headers).length <= mostHeaders, `At most ${mostHeaders} headers are allowed.`)

/** The protocol's own headers repeat the body, and are written from it. */
const ofTheProtocol = /^(?:mcp-.*|accept|content-type|last-event-id)$/i
const serverHeader = sentHeaderName.refine((name) => !ofTheProtocol.test(name), 'This header is set by the gateway.')

/** Headers by which a caller signs in at the gateway: they never leave it. */
const ofTheGateway = /^(?:x-service-.*|x-portkey-.*|authorization|proxy-.*|x-api-key|api-key|x-goog-api-key|cookie)$/i
const callerHeader = headerName.refine((name) => !ofTheGateway.test(name), 'This header is for the gateway, and goes no further.')

const customHeaders = secretField(few(z.record(serverHeader, headerValue))).meta({
  description: 'Headers that each call of the server carries. They are stored encrypted and never shown again.',
})

const issuer = z
  .string()
  .min(1)
  .max(2048)
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'This is not an http or https URL.')
  .refine(namesNoUser, userFault)
  .refine((text) => !/[?#]/.test(text), 'The name of an authorization server has no query and no fragment.')

/** In the form of RFC 6749, section 3.3. */
const scope = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/, 'A scope has no spaces, quotes and backslashes.')
const visible = /^[\x20-\x7e]+$/

const oauth = z
  .strictObject({
    issuer: issuer.nullable().optional().meta({
      description: 'The authorization server, as it names itself. Needed with `client_id`; else the one that the server of MCP names.',
    }),
    client_id: z.string().min(1).max(2048).regex(visible).nullable().optional().meta({
      description: 'The client that was registered for Gatehouse. Without it, people sign in by a client that Gatehouse registers.',
    }),
    client_secret: secretField(z.string().min(1).max(4096).regex(visible)).nullable().optional(),
    scopes: z.array(scope).max(50).nullable().optional().meta({ description: 'Null: those that the server asks for.' }),
    sends_resource: z.boolean().default(true).meta({
      description:
        'False for an authorization server that refuses `resource` (RFC 8707), such as Microsoft Entra: it knows the server by its scopes.',
    }),
  })
  .refine(({ client_id: id, issuer: named }) => !id || Boolean(named), {
    path: ['issuer'],
    message: 'issuer is needed with client_id: a client is for one authorization server.',
  })
  .refine(({ client_id: id, client_secret: secret }) => !secret || Boolean(id), {
    path: ['client_id'],
    message: 'client_id is needed with client_secret.',
  })
  .meta({ description: 'How Gatehouse signs in at the server by OAuth. The secret is stored encrypted and never shown again.' })

export type GivenOAuth = z.output<typeof oauth>

const configurations = z.strictObject({
  custom_headers: customHeaders.nullable().optional(),
  oauth: oauth.nullable().optional(),
  passthrough_header: few(z.record(serverHeader, callerHeader))
    .nullable()
    .optional()
    .meta({ description: "Headers of the server, each with the header of the caller's request from which its value comes." }),
})

export type GivenConfigurations = z.output<typeof configurations>

const url = z
  .string()
  .min(1)
  .max(2048)
  .refine(isStorable, 'NUL characters and broken Unicode are not allowed.')
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'This is not an http or https URL.')
  .refine(namesNoUser, userFault)
  .refine((text) => !/[?#]/.test(text), 'An address has no query and no fragment here: secrets belong into configurations.custom_headers.')
  .meta({ description: 'The endpoint of the server, such as `https://mcp.example.com/mcp`.' })

const authType = z.enum(['oauth_auto', 'oauth_client_credentials', 'headers', 'none']).meta({
  description: '`oauth_auto`: each person signs in; `oauth_client_credentials`: Gatehouse signs in for itself (`configurations.oauth`).',
})

const transport = z.enum(transports).meta({ description: '`http`: streamable HTTP; `sse`: the transport of 2024-11-05.' })

export const createMcpIntegrationBody = z
  .strictObject({
    organisation_id: z.uuid().optional(),
    workspace_id: z.string().min(1).max(255).optional(),
    slug: slugField.optional(),
    name: nameField,
    description: textField(10_000).nullable().optional(),
    configurations: configurations.nullable().optional(),
    url,
    auth_type: authType,
    transport,
  })
  .meta({ id: 'CreateMcpIntegration', description: 'A new MCP integration: where a server is, and how one signs in there.' })

export type CreateMcpIntegration = z.output<typeof createMcpIntegrationBody>

export const updateMcpIntegrationBody = z
  .strictObject({
    name: nameField.optional(),
    description: textField(10_000).nullable().optional(),
    configurations: configurations.nullable().optional(),
    url: url.optional(),
    auth_type: authType.optional(),
    transport: transport.optional(),
  })
  .meta({
    id: 'UpdateMcpIntegration',
    description:
      'The fields to change. Absent fields stay as they are, null clears a field; each of the configurations changes as a whole.',
  })

export type UpdateMcpIntegration = z.output<typeof updateMcpIntegrationBody>

export const mcpIntegrationParams = z.object({ mcpIntegrationId: z.string() })
export const mcpIntegrationRead = z.object(usedByQuery)

export const mcpIntegrationFilter = z.object({
  ...listFields({ sorts: usualSorts, sort: '-created_at', defaultSize: 100 }),
  search: searchField('the name'),
  organisation_id: z.string().optional(),
  workspace_id: z.string().optional(),
  type: z.enum(['workspace', 'organisation', 'all']).default('all'),
})

export const mcpReference = z.object({ id: z.uuid(), slug: z.string() }).meta({ id: 'McpReference', description: 'Which one it was.' })

const shown = {
  id: z.uuid(),
  organisation_id: z.uuid(),
  workspace_id: z.uuid().nullable(),
  type: z.enum(['workspace', 'organisation']).meta({ description: 'The owner: the workspace of `workspace_id`, or the organisation.' }),
  slug: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  owner_id: z.string().nullable().meta({ description: 'The key or user that made it.' }),
  status: z.enum(['active', 'archived']),
  url: z.string(),
  auth_type: z.enum(authTypes),
  transport: z.enum(transports),
  configurations: z.object({
    custom_header_names: z.array(z.string()).meta({ description: 'The names of the headers whose values are never shown.' }),
    passthrough_header: z.record(z.string(), z.string()),
    oauth: z
      .object({
        issuer: z.string().nullable(),
        client_id: z.string().nullable(),
        scopes: z.array(z.string()).nullable(),
        sends_resource: z.boolean(),
      })
      .nullable(),
  }),
  secret_fields: z.array(z.string()).meta({ description: 'The configurations that are set and never shown.' }),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
}

export const mcpIntegrationList = listOf(
  z
    .object({ ...shown, ...toldFields, workspaces_count: z.int(), object: z.literal('mcp_integration') })
    .meta({ id: 'McpIntegrationItem', description: 'An MCP integration.' }),
).meta({ id: 'McpIntegrationList', description: 'MCP integrations, newest first.' })

export const mcpIntegrationView = z
  .object({
    ...shown,
    global_workspace_access: z.object({ enabled: z.boolean() }).nullable(),
    object: z.literal('mcp_integration'),
    ...usedByField,
  })
  .meta({ id: 'McpIntegration', description: 'An MCP integration in full, but for its secrets.' })
