import { z } from 'zod'
import { listFields, listOf, searchField } from '../../lib/paging.ts'
import { limitOwner, standingFields, limitStates, usageTypes } from '../limits/index.ts'

export const limitFilter = z.object({
  ...listFields({ sorts: { share: 'share' }, sort: '-share' }),
  search: searchField('the name of the owner'),
  workspace_id: z.string().min(1).max(255).optional().meta({ description: 'Id or slug: only the limits of this workspace.' }),
  kind: z.enum(['rate', 'usage']).optional(),
  owner_kind: limitOwner.owner_kind.optional(),
  type: z.enum(usageTypes).optional(),
  state: z.enum(limitStates).optional().meta({
    description: '`at_risk`: it runs out before it starts again if it goes on so, or it has passed its threshold (80 % where it has none).',
  }),
})

export const limitList = listOf(
  z
    .object({ object: z.literal('limit'), ...limitOwner, workspace_id: z.uuid().nullable(), ...standingFields })
    .meta({ id: 'LimitStanding', description: 'A limit, and its usage.' }),
).meta({ id: 'LimitList', description: 'Limits of all kinds; those of which the largest share is used come first.' })
