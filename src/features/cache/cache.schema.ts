import { z } from 'zod'
import { textField } from '../../lib/text/text.ts'

export const purgeQuery = z.object({
  workspace_id: textField(255).optional().meta({ description: 'Only answers of this workspace, by id or slug.' }),
  namespace: textField(255).optional().meta({ description: 'Only answers of this namespace (`x-service-cache-namespace`).' }),
  key: z
    .string()
    .regex(/^[\w-]{43}$/, 'A key has 43 letters, digits, - and _.')
    .optional()
    .meta({ description: 'Only the answer with this key, which its answers name in `x-service-cache-key`.' }),
})

export const purged = z.object({
  deleted: z.int().meta({ description: 'The number of answers that were deleted from the database.' }),
})
