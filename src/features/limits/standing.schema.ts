import { z } from 'zod'
import { whileOn } from '../../release/since.ts'
import { usageTypes } from './limit.ts'
import { limitStates } from './standing.ts'

/** The use of a limit as it is answered. */
export const standingFields = {
  spent: z.number().meta({ description: 'US dollars, tokens or requests of this period or window.' }),
  reserved: z.number().meta({ description: 'Held by processes for requests on their way, and for the next ones.' }),
  limit: z.number(),
  resets_at: z.iso.datetime().nullable(),
  state: z.enum(limitStates),
  runs_out_at: z.iso.datetime().nullable().meta({
    description:
      'When it is used up if it goes on so; null: not before it starts again, not within a week, or it has counted for less than an hour.',
  }),
}

/** The resource whose limit it is, and the limited unit. */
export const limitOwner = {
  owner_kind: z.enum(['api-key', 'provider', 'workspace', 'integration-workspace', 'policy']),
  owner_id: z.uuid(),
  owner_name: z.string(),
  group: z.string().nullable().meta({ description: 'The values by which a policy groups.' }),
  kind: z.enum(['rate', 'usage']),
  type: z.enum(usageTypes),
  unit: z.string().nullable().meta({ description: 'The unit of a rate limit: `rpm` and its kin.' }),
}

/** The use of the budget of a key, a provider or a workspace. */
export const usageShown = whileOn('USAGE_LIMITS_ENABLED', z.object(standingFields).nullable().optional()).meta({
  description: 'The usage of its budget; null: it has none.',
})

/** Facts about a key or a provider that its row does not have. */
export const lastUseFields = {
  last_used_at: z.iso.datetime().nullable().optional().meta({ description: 'When the last logged request used it; null: none did.' }),
  owner_name: z.string().nullable().optional().meta({ description: 'The person of a key, or its maker; null: no person.' }),
}

/** A limit above a key or a provider as it is answered. */
const boundView = z.object({
  ...limitOwner,
  ...standingFields,
  conditional: z.boolean().meta({ description: 'True: a policy with further conditions, which not every request meets.' }),
})

export const boundedByField = z
  .array(boundView)
  .optional()
  .meta({ description: 'The limits above it, the tightest first; only when it is read by itself.' })
