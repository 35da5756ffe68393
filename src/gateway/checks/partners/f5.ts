import { z } from 'zod'
import { calledUrl } from '../default/webhook.ts'
import { partner } from './partner.ts'
import { bearer, key, redact } from './words.ts'

/** Scans by the scanners of a project. */
export const f5Scan = partner({
  id: 'f5-guardrails.scan',
  title: 'F5 AI Guardrails',
  about: 'Scans the texts with the scanners of a project; passes when they are cleared, or with `redact` when they were redacted.',
  since: '1.5.1',
  basis: 'observed',
  fields: { projectId: z.string().min(1).max(255).optional().meta({ description: 'The project; absent: the one of the key.' }), redact },
  credentials: { apiKey: key, calypsoUrl: calledUrl.default('https://us1.calypsoai.app') },
  secrets: ['apiKey'],
  urls: ['calypsoUrl'],
  changes: (parameters) => parameters.redact,
  service: ({ calypsoUrl }) => calypsoUrl,
  domains: ['calypsoai.app'],
  sign: ({ apiKey }) => bearer(apiKey),
  call: ({ parameters: { projectId }, text }) => ({
    path: '/backend/v1/scans',
    body: { input: text, ...(projectId !== undefined && { project: projectId }) },
  }),
  answer: z.looseObject({
    redactedInput: z.string().nullish(),
    result: z.looseObject({
      outcome: z.string(),
      scannerResults: z.array(z.looseObject({ scannerId: z.string().optional(), outcome: z.string().optional() })).nullish(),
    }),
  }),
  find({ result: { outcome, scannerResults }, redactedInput }, { parameters, text }) {
    const failed = (scannerResults ?? []).flatMap((one) => (one.outcome === 'failed' ? [one.scannerId ?? ''] : []))
    const redacted = parameters.redact && outcome !== 'blocked' && typeof redactedInput === 'string' && redactedInput !== text
    return { passed: outcome === 'cleared' || redacted, data: { outcome, failed }, ...(redacted && { text: redactedInput }) }
  },
})
