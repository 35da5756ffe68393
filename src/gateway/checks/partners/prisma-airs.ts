import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { partner } from './partner.ts'
import { key, trueNames } from './words.ts'

const name = z.string().min(1).max(255)
const flags = z.record(z.string(), z.unknown()).nullish()

/** Scans by a security profile. */
export const prismaAirs = partner({
  id: 'panw-prisma-airs.intercept',
  title: 'Prisma AIRS',
  about: 'Scans the texts by a security profile; fails when its action is `block`.',
  basis: 'documented',
  fields: {
    profile_name: name.optional().meta({ description: 'The profile by its name.' }),
    profile_id: name.optional().meta({ description: 'The profile by its id.' }),
    ai_model: name.default('unknown-model').meta({ description: 'The model, for the logs of the service.' }),
    app_user: name.default('gatehouse').meta({ description: 'The user, for the logs of the service.' }),
    app_name: name.optional().meta({ description: 'The application, for the logs of the service.' }),
  },
  credentials: { AIRS_API_KEY: key },
  secrets: ['AIRS_API_KEY'],
  service: () => 'https://service.api.aisecurity.paloaltonetworks.com',
  sign: ({ AIRS_API_KEY: token }) => ({ 'x-pan-token': token }),
  call: ({ parameters: { profile_id, profile_name, ...metadata }, text, subject }) => ({
    path: '/v1/scan/sync/request',
    body: {
      tr_id: randomUUID(),
      ai_profile: { ...(profile_id !== undefined && { profile_id }), ...(profile_name !== undefined && { profile_name }) },
      metadata: {
        ai_model: metadata.ai_model,
        app_user: metadata.app_user,
        ...(metadata.app_name !== undefined && { app_name: metadata.app_name }),
      },
      contents: [{ [subject.phase === 'input' ? 'prompt' : 'response']: text }],
    },
  }),
  answer: z.looseObject({ action: z.string(), category: z.string().nullish(), prompt_detected: flags, response_detected: flags }),
  find: ({ action, category, prompt_detected: prompt, response_detected: response }) => ({
    passed: action !== 'block',
    data: { action, category: category ?? null, detected: trueNames({ ...prompt, ...response }) },
  }),
})
