import { z } from 'zod'
import { testSteps, laterProviders } from '../../gateway/ports/providers.ts'
import { valuesSince } from '../../release/since.ts'
import { configurationsField, providerKey } from './integration.schema.ts'

export const testIntegrationBody = z
  .strictObject({
    ai_provider_id: valuesSince(laterProviders, z.string().min(1).max(255)),
    key: providerKey.optional(),
    configurations: configurationsField.nullable().optional(),
    workspace_id: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .meta({ description: 'The workspace in which the account would be stored; for organisation keys.' }),
  })
  .meta({ id: 'TestIntegration', description: 'A provider account that is stored nowhere.' })

export const integrationTest = z
  .object({
    object: z.literal('integration_test'),
    passed: z.boolean().meta({ description: 'Whether no step failed.' }),
    ai_provider_id: z.string(),
    origin: z.string().nullable().meta({ description: 'Scheme, host and port that were asked.' }),
    steps: z.array(
      z.object({
        step: z.enum(testSteps),
        status: z.enum(['passed', 'failed', 'skipped']).meta({
          description: '`skipped`: an earlier step failed, or the provider has no request that decides it.',
        }),
        execution_time: z.number().nullable().meta({ description: 'Milliseconds.' }),
        message: z.string(),
        code: z.string().nullable().meta({ description: 'Of a failure.' }),
      }),
    ),
    models: z
      .object({ total: z.int(), ids: z.array(z.string()).meta({ description: 'The first 100.' }) })
      .nullable()
      .meta({ description: 'The models that the provider lists; null: no list could be read.' }),
  })
  .meta({ id: 'IntegrationTest', description: 'The outcomes of the steps in the test of a provider account.' })
