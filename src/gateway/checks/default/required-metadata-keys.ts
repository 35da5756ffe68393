import { z } from 'zod'
import { check, verdict } from '../check.ts'
import { satisfies } from './contains.ts'

/** Checks which metadata a request must bring. */
export const requiredMetadataKeys = check({
  id: 'default.requiredMetadataKeys',
  title: 'Required metadata keys',
  about: 'Passes when the request has all, any or none of the metadata keys.',
  phases: ['input'],
  reads: 'request',
  readsBody: false,
  fields: {
    metadataKeys: z.array(z.string().min(1).max(128)).min(1).max(64).meta({ description: 'Names of metadata keys.' }),
    operator: z.enum(['all', 'any', 'none']).default('all').meta({ description: 'Whether all, any or none of them must be there.' }),
  },
  ready: ({ metadataKeys, operator }) => ({
    judgesPrefix: false,
    run({ request: { metadata } }) {
      const missing = metadataKeys.filter((key) => !Object.hasOwn(metadata, key))
      const found = metadataKeys.length - missing.length
      return verdict(
        satisfies(operator, found, metadataKeys.length),
        `${found} of ${metadataKeys.length} keys are there; ${operator} should be.`,
        {
          missing_metadata_keys: missing,
          operator,
        },
      )
    },
  }),
})
