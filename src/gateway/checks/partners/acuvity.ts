import { decodeJwt } from 'jose'
import { z } from 'zod'
import { partner } from './partner.ts'
import { bearer, key } from './words.ts'

const scores = z.record(z.string(), z.number()).nullish()
const extraction = z.looseObject({
  data: z.string().nullish(),
  exploits: scores,
  topics: scores,
  languages: scores,
  PIIs: scores,
  piIs: scores,
  secrets: scores,
  detections: z.array(z.looseObject({ type: z.string().optional(), name: z.string().optional() })).nullish(),
})
type Extraction = z.output<typeof extraction>

const languages = ['english', 'chinese', 'spanish', 'french', 'german', 'japanese', 'gibberish'] as const
const on = (what: string) =>
  z
    .boolean()
    .default(true)
    .meta({ description: `Whether it looks for ${what}.` })
const threshold = z.number().min(0).max(1).default(0.5).meta({ description: 'The score from which it counts.' })
const categories = (otherwise: readonly string[]) =>
  z
    .array(z.string().min(1).max(100))
    .max(200)
    .default([...otherwise])
    .meta({ description: 'The kinds that count, in the words of the service.' })
const redacted = z.boolean().default(false).meta({ description: 'Takes them out of the texts, and lets the texts pass.' })

const fields = {
  prompt_injection: on('prompt injection'),
  prompt_injection_threshold: threshold,
  toxic: on('toxic texts'),
  toxic_threshold: threshold,
  jail_break: on('jailbreaks'),
  jail_break_threshold: threshold,
  malicious_url: on('malicious links'),
  malicious_url_threshold: threshold,
  biased: on('bias'),
  biased_threshold: threshold,
  harmful: on('harmful texts'),
  harmful_threshold: threshold,
  language: z.boolean().default(true).meta({ description: 'Whether it looks for the language named; a text in it fails.' }),
  language_values: z.enum(languages).optional().meta({ description: 'The language; absent: none is looked for.' }),
  pii: on('personal data'),
  pii_redact: redacted,
  pii_categories: categories(['email_address', 'phone_number', 'credit_card', 'ssn']),
  secrets: on('secrets'),
  secrets_redact: redacted,
  secrets_categories: categories([]),
}
type Parameters = z.output<z.ZodObject<typeof fields>>

const scored = [
  ['prompt_injection', 'exploits', 'PROMPT_INJECTION'],
  ['jail_break', 'exploits', 'JAIL_BREAK'],
  ['malicious_url', 'exploits', 'MALICIOUS_URL'],
  ['toxic', 'topics', 'content/TOXIC'],
  ['biased', 'topics', 'content/BIASED'],
  ['harmful', 'topics', 'content/HARMFUL_CONTENT'],
] as const

const within = (found: z.output<typeof scores>, name: string): number => (found && Object.hasOwn(found, name) ? (found[name] ?? 0) : -1)

function holds({ detections, ...found }: Extraction, type: 'PII' | 'Secret', wanted: readonly string[]): boolean {
  const held = type === 'PII' ? { ...found.piIs, ...found.PIIs } : found.secrets
  const names = new Set([...Object.keys(held ?? {}), ...(detections ?? []).flatMap((one) => (one.type === type ? [one.name] : []))])
  return wanted.some((name) => names.has(name.toLowerCase()))
}

function detected(found: Extraction, parameters: Parameters): readonly string[] {
  const { language, language_values: wanted, pii, pii_categories: kinds, secrets, secrets_categories: secretKinds } = parameters
  return [
    ...scored.flatMap(([name, list, at]) => (parameters[name] && within(found[list], at) >= parameters[`${name}_threshold`] ? [name] : [])),
    ...(language && wanted !== undefined && within(found.languages, wanted) >= 0.5 ? ['language'] : []),
    ...(pii && holds(found, 'PII', kinds) ? ['pii'] : []),
    ...(secrets && holds(found, 'Secret', secretKinds) ? ['secrets'] : []),
  ]
}

/** The key contains the address of the service. */
function serviceOf(apiKey: string): string {
  const { opaque } = decodeJwt<{ opaque?: Readonly<Record<string, unknown>> }>(apiKey)
  const url = opaque?.['apex-url']
  if (typeof url !== 'string') throw new Error('The key of Acuvity does not contain the address of the service. Give baseUrl.')
  return url.includes('://') ? url : `https://${url}`
}

/** Scans for a dozen things at once. */
export const acuvityScan = partner({
  id: 'acuvity.scan',
  title: 'Acuvity',
  about: 'Scans the texts for injection, jailbreaks, malicious links, toxic, biased or harmful content, personal data and secrets.',
  basis: 'observed',
  fields,
  credentials: { apiKey: key },
  secrets: ['apiKey'],
  changes: ({ pii_redact: pii, secrets_redact: secrets }) => pii || secrets,
  takes: 'all',
  service: ({ apiKey }) => serviceOf(apiKey),
  domains: ['acuvity.ai'],
  sign: ({ apiKey }) => bearer(apiKey),
  call: ({ parameters, subject }) => ({
    path: '/_acuvity/scan',
    body: {
      anonymization: 'FixedSize',
      messages: subject.parts.map(({ text }) => text),
      redactions: [
        ...(parameters.pii && parameters.pii_redact ? parameters.pii_categories : []),
        ...(parameters.secrets && parameters.secrets_redact ? parameters.secrets_categories : []),
      ],
      type: subject.phase === 'input' ? 'Input' : 'Output',
    },
  }),
  answer: z.looseObject({ extractions: z.array(extraction) }),
  find({ extractions }, { parameters, subject }) {
    const guards = [...new Set(extractions.flatMap((found) => detected(found, parameters)))]
    const taken = new Set([...(parameters.pii_redact ? ['pii'] : []), ...(parameters.secrets_redact ? ['secrets'] : [])])
    const changed = guards.some((name) => taken.has(name))
    return {
      passed: guards.every((name) => taken.has(name)),
      data: { detected: guards },
      ...(changed && { texts: extractions.map(({ data }, at) => data ?? subject.parts[at]?.text ?? '') }),
    }
  },
})
