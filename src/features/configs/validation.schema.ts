import { z } from 'zod'
import { issueCodes } from '../../lib/issue.ts'

export const validateBody = z
  .strictObject({
    config: z.record(z.string(), z.unknown()).meta({ description: 'The config, as it would be stored.' }),
    slug: z.string().min(1).max(255).optional().meta({ description: 'The config that it would change: masks stand for its credentials.' }),
    workspace_id: z.string().min(1).max(255).optional(),
  })
  .meta({ id: 'ValidateConfig', description: 'A config to be looked at, and not stored.' })

const place = { param: z.string(), message: z.string() }

export const validation = z
  .object({
    object: z.literal('config_validation'),
    valid: z.boolean().meta({ description: 'True if the config can be stored.' }),
    issues: z.array(z.object({ ...place, code: z.enum(issueCodes) })).meta({ description: 'Faults for which it cannot be stored.' }),
    unsupported: z.array(z.object(place)).meta({ description: 'Parts that can be stored, and for which requests are answered 501.' }),
    missing: z.array(z.object({ kind: z.enum(['provider']), reference: z.string(), message: z.string() })).meta({
      description: 'Names of things that the workspace does not have. They may be made later.',
    }),
  })
  .meta({ id: 'ConfigValidation', description: 'The faults of a config.' })

export const configSchema = z
  .object({
    object: z.literal('config_schema'),
    release: z.string().meta({ description: 'The release level whose fields it has.' }),
    schema: z.record(z.string(), z.unknown()).meta({ description: 'JSON Schema (2020-12) of a config.' }),
    unsupported: z
      .array(z.object({ part: z.string(), when: z.string() }))
      .meta({ description: 'Parts for which requests are answered 501.' }),
  })
  .meta({ id: 'ConfigSchema', description: 'The schema of configs.' })
