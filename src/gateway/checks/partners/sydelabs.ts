import { z } from 'zod'
import { partner } from './partner.ts'
import { key } from './words.ts'

const threshold = (of: string) =>
  z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .meta({ description: `The score above which ${of} fails.` })

/** Scores of risk. */
export const sydeguard = partner({
  id: 'sydelabs.sydeguard',
  title: 'SydeGuard',
  about: 'Fails when the score of a risk is above its threshold.',
  basis: 'observed',
  fields: {
    prompt_injection_threshold: threshold('prompt injection'),
    toxicity_threshold: threshold('toxicity'),
    evasion_threshold: threshold('evasion'),
  },
  credentials: { apiKey: key },
  secrets: ['apiKey'],
  service: () => 'https://guard.sydelabs.ai',
  sign: ({ apiKey }) => ({ 'x-api-key': apiKey }),
  call: ({ text }) => ({ path: '/api/v1/guard/generate-score', body: { prompt: text } }),
  answer: z.looseObject({ category_scores: z.array(z.looseObject({ category: z.string(), score: z.number() })) }),
  find({ category_scores: scores }, { parameters }) {
    const bounds: Readonly<Record<string, number>> = {
      PROMPT_INJECT: parameters.prompt_injection_threshold,
      TOXIC: parameters.toxicity_threshold,
      EVASION: parameters.evasion_threshold,
    }
    const over = scores.filter(({ category, score }) => score > (Object.hasOwn(bounds, category) ? (bounds[category] ?? 1) : 1))
    return { passed: over.length === 0, data: { over: over.map(({ category }) => category) } }
  },
})
