import type { EntityManager } from '@mikro-orm/postgresql'
import { skipPtuField } from '../../gateway/config/provider-fields.ts'
import { readMultipliers } from '../../gateway/prices/multipliers.ts'
import { customEntry, type IntegrationPrices } from '../../gateway/prices/terms.ts'
import type { PricingConfig } from '../integrations/index.ts'

/** A model of an integration, as far as prices go. */
export interface PricedModel {
  readonly slug: string
  /** US dollars for a million tokens. */
  readonly price: PricingConfig | null
  readonly base: string | null
}

/** Null, as for most integrations: the prices of the price lists. */
export function toPrices(models: readonly PricedModel[], { adjustments, skipsCost }: Adjustments): IntegrationPrices | null {
  const multipliers = readMultipliers(adjustments)
  const priced = models.filter(({ price, base }) => price !== null || base !== null)
  if (multipliers === null && priced.length === 0 && !skipsCost) return null
  return {
    multipliers,
    skipsCost,
    models: new Map(priced.map(({ slug, price, base }) => [slug, { entry: price && toEntry(price), base }])),
  }
}

interface Adjustments {
  readonly adjustments: unknown
  readonly skipsCost: boolean
}

const toEntry = ({ pay_as_you_go: { request_token: input, response_token: output } }: PricingConfig) =>
  customEntry({ input: input?.price ?? null, output: output?.price ?? null })

/** The terms of an integration as `termsColumns` reads them. */
export interface StoredTerms {
  readonly adjustments: unknown
  readonly skips_cost: boolean
  readonly models: readonly PricedModel[] | null
}

/** Columns of the terms of an integration, which is `i` in the query. */
export const termsColumns = `i.pricing_adjustments AS adjustments, coalesce((i.configurations ->> '${skipPtuField}')::boolean, false) AS skips_cost,
            (SELECT json_agg(json_build_object('slug', m.slug, 'price', m.pricing_config, 'base', m.base_model_slug))
               FROM integration_models m
              WHERE m.integration_id = i.id AND (m.pricing_config IS NOT NULL OR m.base_model_slug IS NOT NULL)) AS models`

/** Returns the terms that `termsColumns` read; null, as for most integrations: it has none. */
export const storedTerms = ({ adjustments, skips_cost: skipsCost, models }: StoredTerms): IntegrationPrices | null =>
  toPrices(models ?? [], { adjustments, skipsCost })

interface TermsRow extends StoredTerms {
  readonly workspace_id: string
  readonly slug: string
}

/** Reads the terms of all stored providers of an organisation, archived ones too, by workspace and slug. */
export async function readTerms(em: EntityManager, organisationId: string): Promise<ReadonlyMap<string, IntegrationPrices>> {
  const rows = await em.execute<TermsRow[]>(
    `SELECT p.workspace_id, p.slug, ${termsColumns}
       FROM providers p JOIN integrations i ON i.id = p.integration_id
      WHERE p.organisation_id = ?
      ORDER BY p.status = 'active', p.created_at`,
    [organisationId],
  )
  const terms = new Map<string, IntegrationPrices>()
  for (const row of rows) {
    const prices = storedTerms(row)
    if (prices !== null) terms.set(termsKey(row.workspace_id, row.slug), prices)
  }
  return terms
}

/** Returns the key under which `readTerms` has the terms of a provider. */
export const termsKey = (workspaceId: string | null, slug: string): string => `${workspaceId ?? ''}/${slug}`
