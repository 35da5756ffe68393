import { z } from 'zod'
import { partner } from './partner.ts'
import { bearer, key } from './words.ts'

/** Scans by a policy of the partner's. */
export const zscalerProtect = partner({
  id: 'zscaler.zscalerprotect',
  title: 'Zscaler AI Guard',
  about: 'Scans the texts by a detection policy; passes unless the verdict of the policy is `BLOCK`.',
  since: '1.12.0',
  basis: 'observed',
  timeoutMs: 10_000,
  fields: { policyId: z.union([z.string().min(1).max(255), z.int()]).meta({ description: 'The detection policy.' }) },
  credentials: { zscalerApiKey: key },
  secrets: ['zscalerApiKey'],
  service: () => 'https://api.zseclipse.net',
  sign: ({ zscalerApiKey }) => bearer(zscalerApiKey),
  call: ({ parameters: { policyId }, text, subject }) => ({
    path: '/v1/detection/execute-policy',
    body: { policyId, direction: subject.phase === 'input' ? 'IN' : 'OUT', content: text },
  }),
  answer: z.looseObject({
    action: z.string(),
    detectorResponses: z.record(z.string(), z.looseObject({ action: z.string().optional() })).nullish(),
  }),
  find: ({ action, detectorResponses }) => ({
    passed: action !== 'BLOCK',
    data: {
      action,
      detectors: Object.fromEntries(Object.entries(detectorResponses ?? {}).map(([name, found]) => [name, found.action ?? null])),
    },
  }),
})
