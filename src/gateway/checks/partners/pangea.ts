import { z } from 'zod'
import { partner } from './partner.ts'
import { bearer, host, key, redact } from './words.ts'

const common = {
  basis: 'documented',
  credentials: { apiKey: key, domain: host },
  secrets: ['apiKey'],
  sign: ({ apiKey }: { apiKey: string }) => bearer(apiKey),
} as const
/** The service takes 20 KiB at a time; so many characters are never more. */
const most = 6000

const detector = z.looseObject({ detected: z.boolean().nullish() }).nullish()

/** Guards by a recipe. */
export const pangeaTextGuard = partner({
  ...common,
  id: 'pangea.textGuard',
  title: 'Pangea AI Guard',
  about: 'Guards the texts by a recipe; fails when it blocks them, or detects an injection or something malicious.',
  limits: { most },
  fields: {
    recipe: z.string().min(1).max(255).optional().meta({ description: 'The recipe; absent: the one of the service.' }),
    debug: z.boolean().optional().meta({ description: 'Whether the service keeps a detailed analysis.' }),
    overrides: z.looseObject({}).optional().meta({ description: 'Overrides of the recipe, in the words of the service.' }),
  },
  service: ({ domain }) => `https://ai-guard.${domain}`,
  domains: ['pangea.cloud'],
  call: ({ parameters: { recipe, debug, overrides }, text }) => ({
    path: '/v1/text/guard',
    body: {
      text,
      ...(recipe !== undefined && { recipe }),
      ...(debug !== undefined && { debug }),
      ...(overrides !== undefined && { overrides }),
    },
  }),
  answer: z.looseObject({ result: z.looseObject({ blocked: z.boolean(), detectors: z.record(z.string(), detector).nullish() }) }),
  find({ result: { blocked, detectors } }) {
    const detected = Object.entries(detectors ?? {}).flatMap(([name, found]) => (found?.detected === true ? [name] : []))
    const attacked = detected.some((name) => name === 'prompt_injection' || name === 'malicious_entity')
    return { passed: !blocked && !attacked, data: { blocked, detected } }
  },
})

/** Personal data. */
export const pangeaPii = partner({
  ...common,
  id: 'pangea.pii',
  title: 'Pangea Redact',
  about: 'Fails when the rules of the service find something in the texts, or takes it out of them.',
  limits: { most },
  fields: { redact },
  changes: (parameters) => parameters.redact,
  service: ({ domain }) => `https://redact.${domain}`,
  domains: ['pangea.cloud'],
  call: ({ text }) => ({ path: '/v1/redact', body: { text } }),
  answer: z.looseObject({ result: z.looseObject({ count: z.number(), redacted_text: z.string().nullish() }) }),
  find({ result: { count, redacted_text: redacted } }, { parameters }) {
    const taken = count > 0 && parameters.redact && typeof redacted === 'string'
    return { passed: count === 0 || taken, data: { count }, ...(taken && { text: redacted }) }
  },
})
