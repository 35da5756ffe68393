import { z } from 'zod'
import { listFields, listOf, searchField } from '../../lib/paging.ts'
import { textField } from '../../lib/text/text.ts'

export const breakerSorts = { opened_at: 'openedAt' } as const

export const breakerFilter = z.object({
  ...listFields({ sorts: breakerSorts, sort: '-opened_at' }),
  search: searchField('the config or the provider'),
  workspace_id: textField(255).optional().meta({ description: 'Only breakers of this workspace, by id or slug.' }),
})

export const breakerParams = z.object({ breakerId: z.string() })

export const breakerView = z
  .object({
    id: z.uuid(),
    workspace_id: z.uuid().nullable(),
    config: z.string().nullable().meta({ description: 'The slug of the config; null for one that a request brought.' }),
    option: z.string().meta({ description: 'The place of the target in the config, such as `config.targets[1]`.' }),
    provider: z.string().nullable().meta({ description: 'The stored provider, or the provider of the catalogue.' }),
    state: z.enum(['open', 'half-open']).meta({ description: '`open`: the target gets no requests; `half-open`: one request tries it.' }),
    opened_at: z.iso.datetime(),
    until: z.iso.datetime().meta({ description: 'From then on the breaker is half-open.' }),
    object: z.literal('breaker'),
  })
  .meta({ id: 'Breaker', description: 'A circuit breaker that is open.' })

export const breakerList = listOf(breakerView).meta({ id: 'BreakerList', description: 'Circuit breakers that are open, newest first.' })
