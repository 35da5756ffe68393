import { z } from 'zod'
import { textField } from '../../lib/text/text.ts'
import { costStates } from '../logs/index.ts'

const mostLogs = 2000
const pico = z.string()

export const recomputeBody = z.strictObject({
  start: z.iso.datetime({ offset: true }).meta({ description: 'The first moment of the range, by the start of the requests.' }),
  end: z.iso.datetime({ offset: true }).meta({ description: 'The end of the range; a request that began then is not in it.' }),
  filters: z
    .strictObject({
      workspace_id: z.uuid().optional(),
      provider: z.array(textField(255)).min(1).max(50).optional().meta({ description: 'Provider types, such as `openai`.' }),
      model: z.array(textField(255)).min(1).max(50).optional(),
      cost_state: z
        .array(z.enum(costStates))
        .min(1)
        .optional()
        .meta({ description: 'The states that the logs have now, such as `unpriced`.' }),
    })
    .default({}),
  dry_run: z.boolean().default(true).meta({ description: 'True: only show the changes. Look at them first.' }),
  reason: textField(500).optional().meta({ description: 'Why, for those who read the adjustments later.' }),
  limit: z.int().min(1).max(mostLogs).default(mostLogs).meta({ description: 'The most logs of one call.' }),
  after: z.uuid().optional().meta({ description: '`next_after` of the call before, to go on.' }),
  recompute_id: z.uuid().optional().meta({ description: '`id` of the call before, so that all calls are one recompute.' }),
})

const figures = {
  requests: z.int(),
  changed: z.int(),
  before_pico_usd: pico,
  after_pico_usd: pico,
  delta_pico_usd: pico,
  unpriced_before: z.int(),
  unpriced_after: z.int(),
}

export const recomputed = z
  .object({
    object: z.literal('cost.recompute'),
    id: z.uuid(),
    dry_run: z.boolean(),
    ...figures,
    models: z.array(z.object({ provider: z.string().nullable(), model: z.string().nullable(), ...figures })),
    has_more: z.boolean(),
    next_after: z.uuid().nullable().meta({ description: 'Send it as `after` for the logs that follow; null: all are done.' }),
  })
  .meta({ id: 'CostRecompute', description: 'The costs with the present price lists. Amounts are whole pico-US-dollars.' })
