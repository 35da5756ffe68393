import { z } from 'zod'
import { textField } from '../../lib/text/text.ts'
import { valueFilters } from '../logs/index.ts'

const moment = z.iso.datetime({ offset: true })

/** The filters of every route of analytics. Unknown ones are refused: a filter without effect would count too much. */
export const usageQuery = z
  .strictObject({
    workspace_slug: textField(255).optional().meta({
      description:
        'Id or slug. A workspace key sees its own workspace only; an organisation key without it all. From 1.12.0 on an organisation key may name an archived one.',
    }),
    time_of_generation_min: moment.optional().meta({ description: '30 days before the end when it is not given.' }),
    time_of_generation_max: moment.optional().meta({ description: 'Now when it is not given.' }),
    ...valueFilters,
  })
  .meta({ id: 'UsageQuery', description: 'Which requests to count.' })

export type UsageQuery = z.output<typeof usageQuery>
