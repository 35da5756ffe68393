import { z } from 'zod'
import { costStates } from './log-fields.ts'

const amount = z.string().nullable()

const costLine = z
  .object({
    attempt: z.int().meta({ description: 'Which attempt of the request it belongs to, from 0.' }),
    dimension: z.string().meta({ description: 'What was used, such as `input`, `cache_read` or `web_search`.' }),
    count: z.number(),
    unit: z.string(),
    rate_pico_usd: amount.meta({ description: 'Pico-US-dollars for one unit; null when the provider named the cost itself.' }),
    amount_pico_usd: z.string(),
    source: z
      .string()
      .meta({ description: 'Where the rate stands: `integration`, `proxy`, `log_store`, `local`, `built_in` or `provider`.' }),
    note: z.string().nullable().meta({ description: 'How the rate came about, when it is not simply that of the dimension.' }),
  })
  .meta({ id: 'LogCostLine', description: 'Count x rate = amount.' })

const countedAmount = z
  .object({
    attempt: z.int(),
    owner_kind: z
      .string()
      .meta({ description: 'What is limited: `api-key`, `provider`, `workspace`, `integration-workspace`, `policy` or `token`.' }),
    owner_id: z.uuid(),
    group: z.string().nullable().meta({ description: 'The values by which a policy groups; null also when its count is no longer kept.' }),
    type: z.string().meta({ description: 'The unit of the budget: `cost`, `tokens` or `requests`.' }),
    amount: z.string().meta({ description: 'Whole pico-US-dollars of costs, otherwise tokens or requests, as a decimal text.' }),
  })
  .meta({ id: 'LogCountedAmount', description: 'The amount that an attempt of a request counted against a budget.' })

const costAdjustment = z
  .object({
    id: z.uuid(),
    recompute_id: z.uuid(),
    created_at: z.iso.datetime(),
    delta_pico_usd: z.string().meta({ description: 'The addition to the cost before it; negative when the request became cheaper.' }),
    cost_pico_usd: z.string().meta({ description: 'The cost with it.' }),
    state: z.enum(costStates),
    catalogue: z.string().nullable(),
    reason: z.string().nullable(),
    lines: z.array(costLine),
  })
  .meta({
    id: 'LogCostAdjustment',
    description: 'A cost that was worked out again with another price list. The first cost stays as it was.',
  })

/** The cost of one log, with all that it is made of. */
export const logCost = z
  .object({
    object: z.literal('log.cost'),
    log_id: z.uuid(),
    state: z.enum(costStates).nullable(),
    currency: z.literal('USD'),
    cost_pico_usd: amount.meta({ description: 'Whole pico-US-dollars (10^-12 of a dollar), as a decimal text; null when unpriced.' }),
    total_pico_usd: amount.meta({ description: 'The cost with all adjustments; the same as `cost_pico_usd` when there is none.' }),
    adjustments: z.array(costAdjustment).meta({ description: 'The costs after each `POST /costs/recompute`, the oldest first.' }),
    saved_pico_usd: amount.meta({ description: 'The saved cost of a cache hit; null for other answers.' }),
    lines: z.array(costLine),
    unpriced: z.array(z.string()).meta({ description: 'Usage without a known price.' }),
    catalogue: z.string().nullable().meta({ description: 'The digest of the price list.' }),
    usage: z
      .array(
        z.object({
          attempt: z.int(),
          provider: z.string().nullable(),
          model: z.string().nullable(),
          inconsistent: z.boolean().meta({
            description:
              'True: the figures contradict each other (a part above its whole, a total that is no sum, a count below 0). A part above its whole is cut down to it.',
          }),
          usage: z.unknown(),
        }),
      )
      .meta({ description: 'The usage objects of the providers, as they sent them.' }),
    budgets: z.array(countedAmount).meta({ description: 'The amounts counted against budgets, before adjustments.' }),
  })
  .meta({ id: 'LogCost', description: 'The cost of a request, line by line.' })
