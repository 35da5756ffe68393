import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'

export const authTypes = ['none', 'headers', 'oauth_auto', 'oauth_client_credentials'] as const
export const transports = ['http', 'sse'] as const

/** The facts about a server, in its own words. */
export interface ServerInfo {
  readonly name: string | null
  readonly version: string | null
  readonly title: string | null
  readonly description: string | null
  readonly icons: readonly unknown[] | null
}

/** The settings of a sign-in by OAuth, without the secret. */
export interface OAuthFields {
  readonly issuer: string | null
  readonly clientId: string | null
  readonly scopes: readonly string[] | null
  readonly sendsResource: boolean
}

/** A server of MCP: where it is, and how one signs in there. */
export const McpIntegration = defineEntity({
  name: 'McpIntegration',
  tableName: 'mcp_integrations',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    /** Null: the whole organisation's. */
    workspaceId: p.uuid().nullable(),
    slug: p.string().length(255),
    name: p.string().length(255),
    description: p.text().nullable(),
    url: p.text(),
    authType: p.enum(authTypes),
    transport: p.enum(transports),
    status: status('active', 'archived'),
    /** As sealed JSON; read them with `openHeaders`. */
    customHeaders: p.blob().nullable(),
    customHeaderNames: p.array().default([]),
    /** The header of the server, and the header of the caller from which its value comes. */
    passthroughHeaders: p.json<Readonly<Record<string, string>>>().default('{}'),
    /** Null: as the server states it. */
    oauth: p.json<OAuthFields>().nullable(),
    /** Sealed; read it with `openClientSecret`. */
    oauthClientSecret: p.blob().nullable(),
    globalWorkspaceAccess: p.json<{ readonly enabled: boolean }>().nullable(),
    /** Null: no sync has asked the server. */
    serverInfo: p.json<ServerInfo>().nullable(),
    capabilityFlags: p.json<Readonly<Record<string, unknown>>>().nullable(),
    protocolVersions: p.array().default([]),
    era: p.text().$type<'modern' | 'legacy'>().nullable(),
    syncStatus: p.text().$type<'never' | 'synced' | 'failed'>().default('never'),
    lastSyncAt: p.datetime().nullable(),
    syncError: p.text().nullable(),
    createdBy: p.uuid().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type McpIntegration = InferEntity<typeof McpIntegration>
