import { z } from 'zod'
import { calledUrl } from '../default/webhook.ts'
import { partner } from './partner.ts'
import { askedMessages, key, messagesOf } from './words.ts'

/** Validates by the policies of a project. */
export const aporiaProject = partner({
  id: 'aporia.validateProject',
  title: 'Aporia',
  about: 'Validates the conversation by the policies of a project; passes when the project lets it through as it is.',
  basis: 'documented',
  fields: { projectID: z.string().min(1).max(255).meta({ description: 'The project.' }) },
  credentials: { apiKey: key, apiEndpoint: calledUrl.optional() },
  secrets: ['apiKey'],
  urls: ['apiEndpoint'],
  takes: 'all',
  service: ({ apiEndpoint }) => apiEndpoint ?? 'https://gr-prd.aporia.com',
  domains: ['aporia.com'],
  sign: ({ apiKey }) => ({ 'x-aporia-api-key': apiKey }),
  call: ({ parameters, subject, text }) => ({
    path: `/${encodeURIComponent(parameters.projectID)}/validate`,
    body:
      subject.phase === 'input'
        ? { messages: messagesOf(subject), validation_target: 'prompt', explain: false }
        : { messages: askedMessages(subject), response: text, validation_target: 'response', explain: false },
  }),
  answer: z.looseObject({ action: z.string() }),
  find: ({ action }) => ({ passed: action === 'passthrough', data: { action } }),
})
