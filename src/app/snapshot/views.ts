import type { Pool } from 'pg'
import type { KeyView, ModelRules, ProviderScope, ProviderView } from '../../gateway/ports.ts'
import type { Credential } from '../../gateway/providers/provider.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'
import { roleIn, scopesOfRole, type OrganisationRole, type WorkspaceRole } from '../../lib/access/roles.ts'
import { userKeySettings } from '../../lib/access/user-key-settings.ts'
import { allowedHostsOf } from './allowed-hosts.ts'
import { defaultColumns, type DefaultsRow, requestDefaults } from './request-defaults.ts'
import { stringsOf } from './strings-of.ts'
import type { Loaded } from './view-cache.ts'

/** The columns of an integration that its credential is read from. */
export interface SealedIntegration {
  readonly id: string
  readonly organisationId: string
  readonly credential: Uint8Array | null
  readonly configurations: Readonly<Record<string, unknown>>
  readonly secretConfigurations: Uint8Array | null
}

/** A credential in the clear, and where it may go. */
export interface OpenedIntegration {
  readonly credential: Credential
  readonly customHost: string | null
  readonly customHeaders: Readonly<Record<string, string>>
}

interface KeyRow extends Omit<KeyView, 'scopes' | 'metadata' | 'defaults' | 'role' | 'settings' | 'allowedHosts'>, DefaultsRow {
  readonly scopes: readonly string[]
  readonly metadata: unknown
  readonly workspaceMetadata: unknown
  readonly organisationSettings: unknown
  readonly accessOverrides: unknown
  readonly organisationRole: OrganisationRole | null
  readonly workspaceRole: WorkspaceRole | null
  /** When its secret was made, in epoch milliseconds. */
  readonly secretFrom: number
  /** Milliseconds that the secret still serves; null: until the key is changed. */
  readonly remainingMs: number | null
}

/** Both secrets of a key that is being rotated find it; the old one for as long as the transition lasts. */
const keyByHash = `
  SELECT k.id, k.type, k.name, k.organisation_id AS "organisationId", k.workspace_id AS "workspaceId", w.slug AS "workspaceSlug",
         k.user_id AS "userId", k.scopes, k.status, k.defaults -> 'metadata' AS metadata,
         w.defaults -> 'metadata' AS "workspaceMetadata",
         (extract(epoch FROM k.expires_at) * 1000)::float8 AS "expiresAt", ${defaultColumns},
         (extract(epoch FROM coalesce(k.rotated_at, k.created_at)) * 1000)::float8 AS "secretFrom",
         w.access_overrides AS "accessOverrides", u.role AS "organisationRole", m.role AS "workspaceRole",
         CASE WHEN k.key_hash = $1 THEN NULL ELSE (extract(epoch FROM k.previous_key_expires_at - now()) * 1000)::float8 END AS "remainingMs"
    FROM api_keys k
    JOIN organisations o ON o.id = k.organisation_id
    LEFT JOIN workspaces w ON w.id = k.workspace_id
    LEFT JOIN users u ON u.id = k.user_id AND u.status = 'active'
    LEFT JOIN workspace_members m ON m.user_id = k.user_id AND m.workspace_id = k.workspace_id
   WHERE (k.key_hash = $1 OR (k.previous_key_hash = $1 AND k.previous_key_expires_at > now()))
     AND k.status <> 'archived' AND o.status = 'active' AND w.status IS DISTINCT FROM 'archived'`

/** Reads the key with this hash; null when there is none that serves. `now` is the cache's clock. */
export async function readKey(pool: Pool, hash: Buffer, now: () => number): Promise<Loaded<KeyView> | null> {
  const askedAt = now()
  const { rows } = await pool.query<KeyRow>({ name: 'key-by-hash', text: keyByHash, values: [hash] })
  const [row] = rows
  if (row === undefined) return null
  const { remainingMs, scopes, metadata, defaults, workspaceDefaults, organisationDefaults, workspaceConfig, ...more } = row
  const { organisationSettings, accessOverrides, organisationRole, workspaceRole, workspaceMetadata, secretFrom, ...rest } = more
  const settings = effectiveSettings(organisationSettings, accessOverrides)
  const role = organisationRole === null ? null : roleIn(organisationRole, workspaceRole)
  return {
    view: {
      ...rest,
      expiresAt: row.type === 'workspace-user' ? earlier(row.expiresAt, rotationDue(row, secretFrom)) : row.expiresAt,
      role,
      settings,
      allowedHosts: allowedHostsOf(organisationSettings),
      scopes: row.type === 'workspace-user' ? scopesOfRole(scopes, role, settings) : new Set(scopes),
      metadata: { ...stringsOf(workspaceMetadata), ...stringsOf(metadata) },
      defaults: requestDefaults(row.type, { defaults, workspaceDefaults, organisationDefaults, workspaceConfig }),
    },
    dependsOn: [row.id, row.organisationId, row.workspaceId, row.userId].filter((id) => id !== null),
    until: remainingMs === null ? Infinity : askedAt + remainingMs,
  }
}

interface StoredModel {
  readonly slug: string
  readonly enabled: boolean
  readonly host: string | null
}

/** Null, as for most integrations: every model, at the integration's own host. */
function toModelRules(allowAll: boolean, models: readonly StoredModel[]): ModelRules | null {
  if (allowAll && models.length === 0) return null
  const named = new Map(models.map(({ slug, enabled, host }) => [slug, { enabled, customHost: host }]))
  return { allowAll, named }
}

const dayMs = 24 * 60 * 60 * 1000

/** Until when the secret of a user key serves, where the organisation or the workspace asks for rotation; null: nobody asks. */
function rotationDue({ organisationSettings, accessOverrides }: KeyRow, secretFrom: number): number | null {
  const { user_api_key_rotation_period: days } = userKeySettings(organisationSettings, accessOverrides)
  return days === null ? null : secretFrom + days * dayMs
}

const earlier = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)

interface ProviderRow {
  readonly id: string
  readonly slug: string
  readonly organisationId: string
  readonly workspaceId: string
  readonly status: ProviderView['status']
  readonly expiresAt: number | null
  readonly allowed: boolean
  readonly integrationId: string
  readonly aiProviderId: string
  readonly credential: Buffer | null
  readonly configurations: Readonly<Record<string, unknown>>
  readonly secretConfigurations: Buffer | null
  readonly allowAllModels: boolean
  readonly models: readonly StoredModel[] | null
}

/** An admin key sees all workspaces: of several providers with one slug it gets the default workspace's, else the oldest. */
const providers = (whose: string) => `
  SELECT p.id, p.slug, p.organisation_id AS "organisationId", p.workspace_id AS "workspaceId", p.status,
         (extract(epoch FROM p.expires_at) * 1000)::float8 AS "expiresAt",
         i.id AS "integrationId", i.ai_provider_id AS "aiProviderId", i.credential, i.configurations,
         i.secret_configurations AS "secretConfigurations", i.allow_all_models AS "allowAllModels",
         coalesce(i.workspace_id = p.workspace_id, g.enabled, (i.global_workspace_access ->> 'enabled')::boolean, false) AS allowed,
         (SELECT json_agg(json_build_object('slug', m.slug, 'enabled', m.enabled, 'host', m.configurations ->> 'custom_host'))
            FROM integration_models m
           WHERE m.integration_id = i.id AND (m.enabled <> i.allow_all_models
                                              OR m.configurations ? 'custom_host')) AS models
    FROM providers p
    JOIN integrations i ON i.id = p.integration_id
    LEFT JOIN integration_workspaces g ON g.integration_id = i.id AND g.workspace_id = p.workspace_id
    JOIN workspaces w ON w.id = p.workspace_id
    JOIN organisations o ON o.id = p.organisation_id
   WHERE p.organisation_id = $1 AND ${whose} AND p.slug = $3
     AND p.status <> 'archived' AND i.status = 'active' AND w.status = 'active' AND o.status = 'active'
   ORDER BY w.is_default DESC, p.created_at, p.id
   LIMIT 1`

/** Two queries, so that each has one plan, by its index, for good. */
const providerQueries = {
  workspace: { name: 'provider-by-slug', text: providers('p.workspace_id = $2') },
  organisation: { name: 'provider-by-slug-anywhere', text: providers('$2::uuid IS NULL') },
}

/** A provider as it is stored, its credential still sealed. */
export interface SealedProvider {
  readonly integration: SealedIntegration
  readonly dependsOn: readonly string[]
  open(opened: OpenedIntegration): ProviderView
}

/** Reads the provider that this scope sees under this slug; null when there is none that serves. */
export async function readProvider(
  pool: Pool,
  { organisationId, workspaceId }: ProviderScope,
  slug: string,
): Promise<SealedProvider | null> {
  const { rows } = await pool.query<ProviderRow>({
    ...providerQueries[workspaceId === null ? 'organisation' : 'workspace'],
    values: [organisationId, workspaceId, slug],
  })
  const [row] = rows
  if (row === undefined) return null
  const { integrationId, aiProviderId, credential, configurations, secretConfigurations, allowAllModels, models, ...own } = row
  return {
    integration: { id: integrationId, organisationId: row.organisationId, credential, configurations, secretConfigurations },
    dependsOn: [row.id, integrationId, row.workspaceId, row.organisationId],
    open: (opened) => ({ ...own, integrationId, provider: aiProviderId, models: toModelRules(allowAllModels, models ?? []), ...opened }),
  }
}
