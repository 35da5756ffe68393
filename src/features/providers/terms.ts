import type { EntityManager } from '@mikro-orm/postgresql'
import { skipPtuField } from '../../gateway/ports/providers.ts'
import { readMultipliers, customEntry, type IntegrationPrices } from '../../gateway/ports/prices.ts'
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
  readonly created_ms: number
}

/** A stored provider as a log names it. */
interface NamedProvider {
  readonly workspaceId: string | null
  readonly slug: string
  /** Epoch milliseconds of the request. */
  readonly at: number
}

/** Clocks of processes and of the database differ. */
export const toleranceMs = 2_000

/**
 * Reads the terms of all stored providers of an organisation, archived ones too. Returns a function that returns those of the provider which had a slug
 * at a time: another one may have it now. Null, as for most: it has none.
 */
export async function readTerms(em: EntityManager, organisationId: string): Promise<(named: NamedProvider) => IntegrationPrices | null> {
  const rows = await em.execute<TermsRow[]>(
    `SELECT p.workspace_id, p.slug, (extract(epoch FROM p.created_at) * 1000)::float8 AS created_ms, ${termsColumns}
       FROM providers p JOIN integrations i ON i.id = p.integration_id
      WHERE p.organisation_id = ?
      ORDER BY p.created_at`,
    [organisationId],
  )
  const providers = Map.groupBy(rows, (row) => keyOf(row.workspace_id, row.slug))
  const terms = new Map(rows.map((row) => [row, storedTerms(row)]))
  return ({ workspaceId, slug, at }) => {
    const holders = providers.get(keyOf(workspaceId, slug)) ?? []
    // A log that is older than all of them, by whichever clock, is of the first.
    const took = holders.findLast(({ created_ms: madeAt }) => madeAt <= at + toleranceMs) ?? holders[0]
    return (took && terms.get(took)) ?? null
  }
}

const keyOf = (workspaceId: string | null, slug: string): string => `${workspaceId ?? ''}/${slug}`
