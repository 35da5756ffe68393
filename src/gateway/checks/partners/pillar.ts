import { z } from 'zod'
import type { Check } from '../check.ts'
import { partner } from './partner.ts'
import { bearer, key } from './words.ts'

const common = {
  basis: 'observed',
  credentials: { apiKey: key },
  secrets: ['apiKey'],
  service: () => 'https://api.pillarseclabs.com',
  sign: ({ apiKey }: { apiKey: string }) => bearer(apiKey),
  answer: z.record(z.string(), z.unknown()),
} as const

function scan<Scanner extends string>(phase: 'input' | 'output', scanners: readonly [Scanner, ...Scanner[]]): Check {
  const [what, path] = phase === 'input' ? (['Prompt', 'prompt'] as const) : (['Response', 'response'] as const)
  return partner({
    ...common,
    id: `pillar.scan${what}`,
    title: `Pillar Security: ${path}`,
    about: `Fails when one of the scanners finds something in the ${path}.`,
    phases: [phase],
    fields: {
      scanners: z
        .array(z.enum(scanners))
        .min(1)
        .default([...scanners])
        .meta({ description: 'The scanners.' }),
    },
    call: ({ parameters, text }) => ({
      path: `/api/v1/scan/${path}`,
      body: { message: text, scanners: Object.fromEntries(parameters.scanners.map((name) => [name, true])) },
    }),
    find(answer, { parameters }) {
      const missing = parameters.scanners.filter((name) => !Object.hasOwn(answer, name))
      if (missing.length === parameters.scanners.length) throw new Error('The answer of Pillar Security has no scanner.')
      const found = parameters.scanners.filter((name) => Object.hasOwn(answer, name) && answer[name] !== null && answer[name] !== false)
      return { passed: found.length === 0, data: { found } }
    },
  })
}

/** Scans of prompts and responses. */
export const pillar: readonly Check[] = [
  scan('input', ['prompt_injection', 'pii', 'secrets', 'toxic_language', 'invisible_characters']),
  scan('output', ['pii', 'secrets', 'toxic_language']),
]
