import { z } from 'zod'
import type { Check } from '../check.ts'
import { notField } from '../check.ts'
import { calledUrl } from '../default/webhook.ts'
import { partner } from './partner.ts'
import { key, redact, trueNames } from './words.ts'

const labelled = z.array(z.array(z.looseObject({ label: z.string(), score: z.number().nullish() })).min(1)).min(1)

/** A service of guardrail models, at an address of one's own: it classifies a text, each kind of question on its own path. */
const common = {
  basis: 'observed',
  credentials: {
    apiKey: key,
    baseURL: calledUrl,
    apiKeyHeader: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,63}$/)
      .default('x-service-api-key'),
  },
  secrets: ['apiKey'],
  urls: ['baseURL'],
  service: ({ baseURL }: { baseURL: string }) => baseURL,
  domains: [],
  sign: ({ apiKey, apiKeyHeader }: { apiKey: string; apiKeyHeader: string }) => ({ [apiKeyHeader]: apiKey }),
} as const

const moderated = [
  'hate',
  'hate/threatening',
  'harassment',
  'harassment/threatening',
  'self-harm',
  'self-harm/intent',
  'self-harm/instructions',
  'sexual',
  'sexual/minors',
  'violence',
  'violence/graphic',
] as const

const personal = ['EMAIL_ADDRESS', 'PHONE_NUMBER', 'LOCATION_ADDRESS', 'NAME', 'IP_ADDRESS', 'CREDIT_CARD', 'SSN'] as const

/** Moderation, language, personal data and gibberish. */
export const hosted: readonly Check[] = [
  partner({
    ...common,
    id: 'service.moderateContent',
    title: 'Guardrail service: moderation',
    about: 'Fails when the texts are of one of the categories.',
    phases: ['input'],
    fields: { categories: z.array(z.enum(moderated)).min(1).meta({ description: 'The categories that fail.' }), not: notField },
    call: ({ text }) => ({ path: '/moderations', body: { input: text } }),
    answer: z.looseObject({ results: z.array(z.looseObject({ categories: z.record(z.string(), z.boolean()) })).min(1) }),
    find({ results }, { parameters: { categories, not } }) {
      const found = new Set(results.flatMap((one) => trueNames(one.categories)))
      const flagged = categories.filter((name) => found.has(name))
      return { passed: (flagged.length === 0) !== not, data: { flagged_categories: flagged, not } }
    },
  }),
  partner({
    ...common,
    id: 'service.language',
    title: 'Guardrail service: language',
    about: 'Passes when the texts are in one of the languages.',
    phases: ['input'],
    fields: {
      language: z.union([z.string(), z.array(z.string()).min(1)]).meta({ description: 'One language or several, such as `eng_Latn`.' }),
      not: notField,
    },
    call: ({ text }) => ({ path: '/language', body: { input: text } }),
    answer: labelled,
    find(answer, { parameters: { language, not } }) {
      const detected = answer[0]?.[0]?.label ?? ''
      return { passed: [language].flat().includes(detected) !== not, data: { detected, not } }
    },
  }),
  partner({
    ...common,
    id: 'service.pii',
    title: 'Guardrail service: personal data',
    about: 'Fails when personal data of one of the categories is in the texts, or takes it out of them.',
    fields: { categories: z.array(z.enum(personal)).min(1).meta({ description: 'The categories that fail.' }), redact, not: notField },
    changes: (parameters) => parameters.redact,
    call: ({ text }) => ({ path: '/pii', body: { input: text } }),
    answer: z
      .array(
        z.looseObject({
          processed_text: z.string().nullish(),
          entities: z.array(z.looseObject({ labels: z.record(z.string(), z.number()) })),
        }),
      )
      .min(1),
    find([first], { parameters: { categories, redact: redacts, not } }) {
      const kinds = new Set((first?.entities ?? []).flatMap(({ labels }) => Object.keys(labels)))
      const found = categories.filter((name) => kinds.has(name))
      const taken = found.length > 0 && redacts && typeof first?.processed_text === 'string'
      const text = taken ? (first?.processed_text ?? undefined) : undefined
      return { passed: taken || (found.length === 0) !== not, data: { found, not }, ...(text !== undefined && { text }) }
    },
  }),
  partner({
    ...common,
    id: 'service.gibberish',
    title: 'Guardrail service: gibberish',
    about: 'Fails when the texts make no sense.',
    fields: { not: notField },
    call: ({ text }) => ({ path: '/gibberish', body: { input: text } }),
    answer: labelled,
    find(answer, { parameters: { not } }) {
      const label = answer[0]?.[0]?.label ?? ''
      return { passed: (label === 'clean') !== not, data: { label, not } }
    },
  }),
]
