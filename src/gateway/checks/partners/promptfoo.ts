import { z } from 'zod'
import { partner } from './partner.ts'
import { redact, trueNames, withoutSpans } from './words.ts'

const flags = z.record(z.string(), z.boolean())
const common = {
  basis: 'documented',
  credentials: {},
  secrets: [],
  service: () => 'https://api.promptfoo.dev',
  sign: () => ({}),
} as const
const result = z.looseObject({ categories: flags.nullish(), flagged: z.boolean() })
const answer = z.looseObject({ results: z.array(result).min(1) })

/** Injection and jailbreaks. */
export const promptfooGuard = partner({
  ...common,
  id: 'promptfoo.guard',
  title: 'Promptfoo guard',
  about: 'Fails when the texts may be an injection or a jailbreak.',
  phases: ['input'],
  fields: {},
  call: ({ text }) => ({ path: '/v1/guard', body: { input: text } }),
  answer,
  find: ({ results }) => ({
    passed: !results.some(({ flagged }) => flagged),
    data: { flagged: results.flatMap(({ categories }) => trueNames(categories ?? {})) },
  }),
})

/** Harmful content. */
export const promptfooHarm = partner({
  ...common,
  id: 'promptfoo.harm',
  title: 'Promptfoo harm',
  about: 'Fails when the texts are harmful.',
  fields: {},
  call: ({ text }) => ({ path: '/v1/harm', body: { input: text } }),
  answer,
  find: ({ results }) => ({
    passed: !results.some(({ flagged }) => flagged),
    data: { flagged: results.flatMap(({ categories }) => trueNames(categories ?? {})) },
  }),
})

const entity = z.looseObject({ entity_type: z.string(), start: z.int().min(0), end: z.int().min(0) })

/** Personal data. */
export const promptfooPii = partner({
  ...common,
  id: 'promptfoo.pii',
  title: 'Promptfoo PII',
  about: 'Fails when personal data is in the texts, or takes it out of them.',
  fields: { redact },
  changes: (parameters) => parameters.redact,
  call: ({ text }) => ({ path: '/v1/pii', body: { input: text } }),
  answer: z.looseObject({
    results: z.array(result.extend({ payload: z.looseObject({ pii: z.array(entity) }).nullish() })).min(1),
  }),
  find({ results }, { parameters, text }) {
    const found = results.flatMap(({ payload }) => payload?.pii ?? [])
    const flagged = results.some((one) => one.flagged)
    const taken = flagged && parameters.redact && found.length > 0
    return {
      passed: !flagged || taken,
      data: { categories: [...new Set(found.map(({ entity_type: type }) => type))] },
      ...(taken && {
        text: withoutSpans(
          text,
          found.map(({ start, end }) => [start, end]),
        ),
      }),
    }
  },
})
