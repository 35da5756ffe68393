import { byReference, usualLimits, type Views } from '../../app/snapshot/view.ts'
import type { Vault } from '../../app/secrets/vault.ts'
import type { ModelRules, ProviderView } from '../../gateway/ports.ts'
import type { SealedCredential, StoredCredential } from '../integrations/index.ts'
import { skipPtuField } from '../../gateway/ports/providers.ts'
import { type PricedModel, toPrices } from './terms.ts'
import { mappedSecretsColumn, type SealedMapping } from '../secret-references/index.ts'
import { joinLimits, limitedColumn, toGatewayLimits, type LimitedRow } from '../limits/index.ts'

interface StoredModel extends PricedModel {
  readonly enabled: boolean
  readonly host: string | null
}

/** Null, as for most integrations: every model, at the integration's own host. */
function toModelRules(allowAll: boolean, models: readonly StoredModel[]): ModelRules | null {
  const ruled = models.filter(({ enabled, host }) => enabled !== allowAll || host !== null)
  if (allowAll && ruled.length === 0) return null
  const named = new Map(ruled.map(({ slug, enabled, host }) => [slug, { enabled, customHost: host }]))
  return { allowAll, named }
}

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
  readonly mappedSecrets: readonly SealedMapping[] | null
  readonly allowAllModels: boolean
  readonly models: readonly StoredModel[] | null
  readonly pricingAdjustments: unknown
  readonly limited: LimitedRow
  /** The workspace with the integration; the id is null without a row of its own. */
  readonly grantId: string | null
  readonly grantLimited: LimitedRow
}

/** Returns the limits of a provider, and of its workspace with the integration. */
function limitsOf(
  { id, organisationId }: Pick<ProviderRow, 'id' | 'organisationId'>,
  { limited, grantId, grantLimited }: Pick<ProviderRow, 'limited' | 'grantId' | 'grantLimited'>,
): ProviderView['limits'] {
  const own = toGatewayLimits({ kind: 'provider', id, organisationId, ...limited })
  if (grantId === null) return own
  return joinLimits([own, toGatewayLimits({ kind: 'integration-workspace', id: grantId, organisationId, ...grantLimited })])
}

/** An admin key sees all workspaces: of several providers with one slug it gets the default workspace's, else the oldest. */
const providers = (whose: string) => `
  SELECT p.id, p.slug, p.organisation_id AS "organisationId", p.workspace_id AS "workspaceId", p.status,
         (extract(epoch FROM p.expires_at) * 1000)::float8 AS "expiresAt",
         i.id AS "integrationId", i.ai_provider_id AS "aiProviderId", i.credential, i.configurations,
         i.secret_configurations AS "secretConfigurations", i.allow_all_models AS "allowAllModels",
         ${limitedColumn('p')} AS limited, g.id AS "grantId", ${limitedColumn('g')} AS "grantLimited",
         coalesce(i.workspace_id = p.workspace_id, g.enabled, (i.global_workspace_access ->> 'enabled')::boolean, false) AS allowed,
         (SELECT json_agg(json_build_object('slug', m.slug, 'enabled', m.enabled, 'host', m.configurations ->> 'custom_host',
                                           'price', m.pricing_config, 'base', m.base_model_slug))
            FROM integration_models m
           WHERE m.integration_id = i.id AND (m.enabled <> i.allow_all_models
                                              OR m.configurations ? 'custom_host' OR m.pricing_config IS NOT NULL
                                              OR m.base_model_slug IS NOT NULL)) AS models,
         i.pricing_adjustments AS "pricingAdjustments", ${mappedSecretsColumn('i')} AS "mappedSecrets"
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

/** The provider that a scope sees under a slug, with its credential; `open` opens that of its integration. */
export const providerView = (open: (integration: SealedCredential, vault: Vault) => Promise<StoredCredential>): Views['provider'] => ({
  limits: usualLimits,
  tables: ['providers', 'integrations'],
  key: byReference,
  find: ({ organisationId, workspaceId }, slug, { vault, opened }) => ({
    async read(ask) {
      const query = providerQueries[workspaceId === null ? 'organisation' : 'workspace']
      const [row] = await ask<ProviderRow>({ ...query, values: [organisationId, workspaceId, slug] })
      if (row === undefined) return null
      const {
        integrationId,
        aiProviderId,
        credential,
        configurations,
        secretConfigurations,
        allowAllModels,
        models,
        pricingAdjustments,
        mappedSecrets,
        ...others
      } = row
      const { limited, grantId, grantLimited, ...own } = others
      const limits = limitsOf(own, { limited, grantId, grantLimited })
      const mapped = { secrets: mappedSecrets, workspaceId: row.workspaceId }
      const integration = {
        id: integrationId,
        organisationId: row.organisationId,
        credential,
        configurations,
        secretConfigurations,
        mapped,
      }
      const stored = await opened(slug, () => open(integration, vault))
      return {
        view: {
          ...own,
          integrationId,
          provider: aiProviderId,
          models: toModelRules(allowAllModels, models ?? []),
          prices: toPrices(models ?? [], { adjustments: pricingAdjustments, skipsCost: configurations[skipPtuField] === true }),
          limits,
          ...stored,
        },
        dependsOn: [row.id, integrationId, row.workspaceId, row.organisationId, ...(mappedSecrets ?? []).map(({ id }) => id)],
        until: Infinity,
      }
    },
  }),
})
