import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { notFound } from '../../app/database/find.ts'
import { type Call, route, type Route } from '../../app/route.ts'
import { differences } from '../../lib/json/differences.ts'
import type { CapabilityKind } from '../../lib/mcp-definition.ts'
import { capabilityName, capabilityType, success } from '../mcp-integrations/index.ts'
import { McpCapability, McpCapabilityVersion } from '../mcp-integrations/mcp-capability.entity.ts'
import { approve, demandSeen } from './capabilities.ts'
import { deciderOf } from './capabilities.routes.ts'
import type { McpServerEntity } from './mcp-server.entity.ts'
import { McpServerCapability } from './mcp-server-rights.entity.ts'
import { inWorkspace } from './mcp-server.schema.ts'
import { findMcpServer } from './mcp-servers.ts'

const params = z.object({ mcpServerId: z.string(), name: capabilityName })
const type = capabilityType.default('tool')

const decisionBody = z
  .strictObject({
    hash: z.string().min(1).max(100).meta({ description: 'The definition that was seen. 409 when it has moved on.' }),
    type,
  })
  .meta({ id: 'DecideMcpCapability', description: 'Which definition is approved or rejected.' })

type Decision = Call<z.output<typeof params>, z.output<typeof inWorkspace>, z.output<typeof decisionBody>>

const decide = (verb: 'approve' | 'reject', summary: string, handler: (call: Decision) => Promise<{ success: true }>): Route =>
  route({
    method: 'POST',
    path: `/mcp-servers/:mcpServerId/capabilities/:name/${verb}`,
    summary,
    permission: 'mcp_servers.update',
    resource: 'mcp-server',
    action: verb,
    params,
    query: inWorkspace,
    body: decisionBody,
    response: success,
  })(handler)

export const approveCapability = decide('approve', 'Approve the definition of a tool, prompt or resource', async (call) => {
  const { em, actor, deps, params: named, body, audit } = call
  const { server } = await find(call)
  const decider = deciderOf(actor, deps.clock.now())
  const changes = await approve(em, server, { approvals: [{ type: body.type, name: named.name, hash: body.hash, param: 'hash' }], decider })
  audit({ id: server.id, workspaceId: server.workspaceId, changes })
  return { success: true }
})

export const rejectCapability = decide('reject', 'Reject the definition of a tool, prompt or resource', async (call) => {
  const { em, actor, deps, body, audit } = call
  const { server, capability } = await find(call)
  const { organisationId, id: serverId } = server
  const name = { type: capability.type, name: capability.name }
  const decided = { rejectedHash: body.hash, decidedBy: actor.userId ?? actor.id, decidedAt: new Date(deps.clock.now()) }
  const rule = await em.findOne(McpServerCapability, { serverId, ...name })
  if (rule === null) em.create(McpServerCapability, { organisationId, serverId, ...name, ...decided })
  else if (rule.pinnedHash === body.hash)
    Object.assign(rule, { ...decided, pinnedHash: null, pinnedInputHash: null, pinnedDefinition: null })
  else Object.assign(rule, decided)
  audit({ id: server.id, workspaceId: server.workspaceId })
  return { success: true }
})

async function find({ em, actor, params: { mcpServerId, name }, query, body }: Decision) {
  const server = await findMcpServer(em, actor, { reference: mcpServerId, workspace: query.workspace_id, forWrite: true })
  const capability = await capabilityOf(em, server, { type: body.type, name })
  demandSeen(capability, { hash: body.hash, name, param: 'hash' })
  return { server, capability }
}

async function capabilityOf(
  em: EntityManager,
  { integrationId }: McpServerEntity,
  named: { readonly type: CapabilityKind; readonly name: string },
): Promise<McpCapability> {
  const row = await em.findOne(McpCapability, { integrationId, ...named })
  if (row === null) throw notFound(named.type.replace('_', ' '), named.name, 'name')
  return row
}

const history = z
  .object({
    object: z.literal('mcp_capability_history'),
    data: z.array(
      z.object({
        hash: z.string(),
        seen_at: z.iso.datetime(),
        is_current: z.boolean(),
        is_approved: z.boolean(),
        definition: z.record(z.string(), z.unknown()),
        diff: z
          .array(z.object({ path: z.string(), before: z.unknown(), after: z.unknown() }))
          .meta({ description: 'Against the version before; the first 100 places.' }),
      }),
    ),
  })
  .meta({ id: 'McpCapabilityHistory', description: 'The definitions that syncs found, the latest first; the last 50 are kept.' })

export const readCapabilityHistory = route({
  method: 'GET',
  path: '/mcp-servers/:mcpServerId/capabilities/:name/history',
  summary: 'Read the definitions that a tool, prompt or resource has had',
  permission: 'mcp_servers.read',
  params,
  query: inWorkspace.extend({ type }),
  response: history,
})(async ({ em, actor, params: { mcpServerId, name }, query }) => {
  const server = await findMcpServer(em, actor, { reference: mcpServerId, workspace: query.workspace_id })
  const capability = await capabilityOf(em, server, { type: query.type, name })
  const rule = await em.findOne(McpServerCapability, { serverId: server.id, type: query.type, name })
  const versions = await em.find(McpCapabilityVersion, { capabilityId: capability.id }, { orderBy: { seenAt: 'desc', id: 'desc' } })
  const data = versions.map((version, at) => {
    const before = versions[at + 1]
    return {
      hash: version.hash,
      seen_at: version.seenAt.toISOString(),
      is_current: version.hash === capability.hash && at === 0,
      is_approved: version.hash === rule?.pinnedHash,
      definition: { ...version.definition },
      diff: before === undefined ? [] : differences(before.definition, version.definition),
    }
  })
  return { object: 'mcp_capability_history' as const, data }
})
