import { z } from 'zod'
import type { Check } from '../check.ts'
import { partner } from './partner.ts'
import { host, key } from './words.ts'

const said = z.looseObject({ action: z.string(), modified_text: z.string().nullish(), violations: z.array(z.string()).nullish() })

function protect(phase: 'input' | 'output'): Check {
  const [what, name] = phase === 'input' ? (['Prompt', 'prompt'] as const) : (['Response', 'response'] as const)
  return partner({
    id: `promptsecurity.protect${what}`,
    title: `Prompt Security: ${name}`,
    about: `Protects the ${name} by the policies of the application: it may be let through, changed or blocked.`,
    basis: 'observed',
    phases: [phase],
    fields: {},
    credentials: { apiDomain: host, apiKey: key },
    secrets: ['apiKey'],
    changes: () => true,
    service: ({ apiDomain }) => `https://${apiDomain}`,
    domains: ['prompt.security'],
    sign: ({ apiKey }) => ({ 'app-id': apiKey }),
    call: ({ text }) => ({ path: '/api/protect', body: { [name]: text } }),
    answer: z.looseObject({ result: z.looseObject({ prompt: said.nullish(), response: said.nullish() }) }),
    find({ result }) {
      const own = result[name]
      if (!own) throw new Error(`The answer of Prompt Security lacks the ${name}.`)
      const { action, modified_text: modified, violations } = own
      const passed = action !== 'block'
      return {
        passed,
        data: { action, violations: violations ?? [] },
        ...(passed && typeof modified === 'string' && { text: modified }),
      }
    },
  })
}

/** Prompts and responses. */
export const promptSecurity: readonly Check[] = [protect('input'), protect('output')]
