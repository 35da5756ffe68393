import { z } from 'zod'
import { partner } from './partner.ts'
import { bearer, key, trueNames } from './words.ts'

const kinds = [
  'sexual',
  'hate_and_discrimination',
  'violence_and_threats',
  'dangerous_and_criminal_content',
  'selfharm',
  'health',
  'financial',
  'law',
  'pii',
] as const

/** Moderates by categories. */
export const mistralModerate = partner({
  id: 'mistral.moderateContent',
  title: 'Mistral moderation',
  about: 'Fails when a text is of one of the categories.',
  basis: 'documented',
  fields: {
    categories: z.array(z.enum(kinds)).min(1).meta({ description: 'The categories that fail.' }),
    model: z.string().min(1).max(255).default('mistral-moderation-latest').meta({ description: 'The model that moderates.' }),
  },
  credentials: { apiKey: key },
  secrets: ['apiKey'],
  takes: 'all',
  service: () => 'https://api.mistral.ai',
  sign: ({ apiKey }) => bearer(apiKey),
  call: ({ parameters: { model }, subject }) => ({
    path: '/v1/moderations',
    body: { model, input: subject.parts.map(({ text }) => text) },
  }),
  answer: z.looseObject({ results: z.array(z.looseObject({ categories: z.record(z.string(), z.boolean()) })).min(1) }),
  find({ results }, { parameters }) {
    const found = new Set(results.flatMap(({ categories }) => trueNames(categories)))
    const flagged = parameters.categories.filter((name) => found.has(name))
    return { passed: flagged.length === 0, data: { flagged_categories: flagged } }
  },
})
