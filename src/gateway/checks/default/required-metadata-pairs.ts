import { z } from 'zod'
import { check, verdict } from '../check.ts'
import { matcher, matchTypes, toValues, valuesFault, valuesField } from '../match-values.ts'
import { satisfies } from './contains.ts'

/** Checks which metadata values a request must bring. */
export const requiredMetadataKeyPairs = check({
  id: 'default.requiredMetadataKeyPairs',
  title: 'Required metadata values',
  about: 'Passes when all, any or none of the metadata keys hold a value that is asked for.',
  phases: ['input'],
  reads: 'request',
  readsBody: false,
  fields: {
    metadataPairs: z
      .record(z.string().min(1).max(128), valuesField)
      .refine((pairs) => Object.keys(pairs).length > 0, 'Give a key and its values.')
      .meta({ description: 'Key -> the value, or the values, that it may hold.' }),
    operator: z.enum(['all', 'any', 'none']).default('all').meta({ description: 'How many of the pairs must hold.' }),
    matchType: z.enum(matchTypes).default('exact').meta({ description: 'How values are compared.' }),
  },
  rule({ metadataPairs, matchType }) {
    const fault = valuesFault(matchType, Object.values(metadataPairs).flatMap(toValues))
    return fault === null ? null : { field: 'metadataPairs', message: fault }
  },
  ready({ metadataPairs, operator, matchType }) {
    const pairs = Object.entries(metadataPairs).map(([key, values]) => ({ key, holds: matcher(matchType, toValues(values)) }))
    return {
      judgesPrefix: false,
      run({ request: { metadata } }) {
        const failed = pairs.filter(({ key, holds }) => !holds(Object.hasOwn(metadata, key) ? [metadata[key] ?? ''] : []))
        const found = pairs.length - failed.length
        return verdict(satisfies(operator, found, pairs.length), `${found} of ${pairs.length} pairs hold; ${operator} should.`, {
          failed_metadata_keys: failed.map(({ key }) => key),
          operator,
        })
      },
    }
  },
})
