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

/** The cost of one log, with all that it is made of. */
export const logCost = z
  .object({
    object: z.literal('log.cost'),
    log_id: z.uuid(),
    state: z.enum(costStates).nullable(),
    currency: z.literal('USD'),
    cost_pico_usd: amount.meta({ description: 'Whole pico-US-dollars (10^-12 of a dollar), as a decimal text; null when unpriced.' }),
    saved_pico_usd: amount.meta({ description: 'What an answer from the cache would have cost; null for other answers.' }),
    lines: z.array(costLine),
    unpriced: z.array(z.string()).meta({ description: 'What was used and has no known price.' }),
    catalogue: z.string().nullable().meta({ description: 'The digest of the price list.' }),
    usage: z
      .array(z.object({ attempt: z.int(), provider: z.string().nullable(), model: z.string().nullable(), usage: z.unknown() }))
      .meta({ description: 'The usage objects of the providers, as they sent them.' }),
  })
  .meta({ id: 'LogCost', description: 'What a request cost, line by line.' })
