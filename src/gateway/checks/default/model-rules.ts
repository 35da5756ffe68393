import { z } from 'zod'
import { check, notField, verdict } from '../check.ts'
import { judgedModels, modelsField } from './model-whitelist.ts'

const rulesField = z
  .strictObject({
    defaults: modelsField.optional(),
    metadata: z.record(z.string().min(1).max(128), z.record(z.string().max(1000), modelsField)).optional(),
  })
  .refine(
    ({ defaults, metadata = {} }) => defaults !== undefined || Object.keys(metadata).length > 0,
    'Give defaults, or rules by metadata.',
  )

/** Checks which models a caller may use. */
export const modelRules = check({
  id: 'default.modelRules',
  title: 'Model rules',
  about: 'Passes when every model that the request names is one that its metadata allow; without a rule for them the defaults count.',
  phases: ['input'],
  reads: 'request',
  fields: {
    rules: rulesField.meta({
      description: '`{ "defaults": [models], "metadata": { key: { value: [models] } } }`; the lists of all rules that apply are joined.',
    }),
    not: notField,
  },
  ready: ({ rules: { defaults = [], metadata = {} }, not }) => ({
    judgesPrefix: false,
    run({ request }) {
      const matched = Object.entries(metadata).flatMap(([key, byValue]) => {
        const value = Object.hasOwn(request.metadata, key) ? request.metadata[key] : undefined
        return value !== undefined && Object.hasOwn(byValue, value) ? [{ rule: `${key}:${value}`, models: byValue[value] ?? [] }] : []
      })
      const allowed = new Set(matched.length > 0 ? matched.flatMap(({ models }) => models) : defaults)
      const { passed, explanation } = judgedModels(request, allowed, not)
      const matchedRules = matched.map(({ rule }) => rule)
      return verdict(passed, `${explanation} that applies.`, { matchedRules, not })
    },
  }),
})
