import { z } from 'zod'
import { partner } from './partner.ts'
import { host, key, trueNames } from './words.ts'

const flags = z.record(z.string(), z.boolean()).nullish()
const assessment = z.looseObject({
  request_reject: z.boolean().nullish(),
  categories: flags,
  results: z.looseObject({ categories: flags }).nullish(),
})

/** The guardrails of an application, as the partner has them. */
export const javelinGuardrails = partner({
  id: 'javelin.guardrails',
  title: 'Javelin',
  about: 'Applies all guardrails of an application; fails when one of them rejects the texts.',
  since: '1.6.1',
  basis: 'documented',
  fields: {},
  credentials: { apiKey: key, domain: host.default('api-dev.javelin.live'), application: z.string().regex(/^[\x20-\x7e]{1,255}$/) },
  secrets: ['apiKey'],
  service: ({ domain }) => `https://${domain}`,
  domains: ['javelin.live'],
  sign: ({ apiKey, application }) => ({ 'x-javelin-apikey': apiKey, 'x-javelin-application': application }),
  call: ({ text }) => ({ path: '/v1/guardrails/apply', body: { input: { text } } }),
  answer: z.looseObject({ assessments: z.array(z.record(z.string(), assessment)).min(1) }),
  find({ assessments }) {
    const rejected = assessments.flatMap((one) => Object.entries(one)).filter(([, { request_reject: reject }]) => reject === true)
    const flagged = rejected.map(([name, { categories, results }]) => [name, trueNames(categories ?? results?.categories ?? {})] as const)
    return { passed: rejected.length === 0, data: { rejected: Object.fromEntries(flagged) } }
  },
})
