import { z } from 'zod'
import { listFields, listOf, type Sorts } from '../../lib/paging.ts'

export const sorts = { created_at: 'createdAt', expires_at: 'expiresAt' } as const satisfies Sorts

export const signInQuery = z.object(listFields({ sorts, sort: '-created_at' }))

export const signInParams = z.object({ mcpSignInId: z.string() })

export const requestParams = z.object({
  requestId: z.string().min(1).max(100).meta({ description: 'From the address of the page to which the program sent the browser.' }),
})

const client = z
  .object({
    id: z.string().meta({ description: "The address of the program's metadata document." }),
    name: z.string().nullable().meta({ description: 'As the program calls itself: nobody has verified it.' }),
    host: z.string().meta({ description: 'The host that vouches for the program.' }),
  })
  .meta({ id: 'McpClient' })

const dates = { created_at: z.iso.datetime(), expires_at: z.iso.datetime() }

export const signInView = z
  .object({
    id: z.uuid(),
    client,
    user_id: z.uuid(),
    mcp_server_id: z.uuid(),
    workspace_id: z.uuid(),
    resource: z.string().meta({ description: 'The address of the server as the program names it.' }),
    last_refreshed_at: z.iso.datetime().nullable().meta({ description: 'When the program got its last tokens; null: none yet.' }),
    ...dates,
    object: z.literal('mcp_sign_in'),
  })
  .meta({ id: 'McpSignIn', description: 'A program that may use an MCP server as a person.' })

export const signInList = listOf(signInView)

const server = z.object({
  id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  workspace: z.object({ id: z.uuid(), slug: z.string(), name: z.string() }),
  tools: z.array(z.string()).meta({ description: 'The names of the tools that the program could call, at most 100.' }),
  tools_total: z.int(),
})

export const requestView = z
  .object({
    id: z.string(),
    client,
    redirect: z
      .object({
        host: z.string(),
        is_loopback: z.boolean().meta({ description: 'Any program on your machine may be there.' }),
      })
      .meta({ description: 'Where the answer goes.' }),
    resource: z.string(),
    servers: z
      .array(server)
      .meta({ description: 'The servers at this address that you may use: one, or one in each of several workspaces.' }),
    expires_at: z.iso.datetime(),
    object: z.literal('mcp_sign_in_request'),
  })
  .meta({ id: 'McpSignInRequest', description: 'A program that asks to use an MCP server as you.' })

export const decisionBody = z
  .discriminatedUnion('decision', [
    z.strictObject({ decision: z.literal('allow'), mcp_server_id: z.uuid().meta({ description: 'One of the servers of the request.' }) }),
    z.strictObject({ decision: z.literal('deny') }),
  ])
  .meta({ id: 'DecideMcpSignIn', description: 'Your decision on a program that asks.' })

export const decisionView = z
  .object({ redirect_to: z.string().meta({ description: 'The address at which the browser goes on.' }) })
  .meta({ id: 'McpSignInDecision' })
