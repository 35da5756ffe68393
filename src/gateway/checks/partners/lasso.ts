import { z } from 'zod'
import { calledUrl } from '../default/webhook.ts'
import { partner } from './partner.ts'
import { key, messagesOf, trueNames } from './words.ts'

const headerText = z.string().regex(/^[\x20-\x7e]{1,255}$/)

/** Classifies a conversation. */
export const lassoClassify = partner({
  id: 'lasso.classify',
  title: 'Lasso Security',
  about: 'Classifies the conversation; fails when a violation is detected.',
  basis: 'observed',
  fields: {
    messages: z
      .array(z.looseObject({}))
      .max(1000)
      .optional()
      .meta({ description: 'Accepted for compatibility and without effect: the check always classifies the request.' }),
    conversationId: headerText.optional().meta({ description: 'The conversation, for the console of the service.' }),
    userId: headerText.optional().meta({ description: 'The user, for the console of the service.' }),
  },
  credentials: { apiKey: key, apiEndpoint: calledUrl.default('https://server.lasso.security') },
  secrets: ['apiKey'],
  urls: ['apiEndpoint'],
  takes: 'all',
  service: ({ apiEndpoint }) => apiEndpoint,
  domains: ['lasso.security'],
  sign: ({ apiKey }) => ({ 'lasso-api-key': apiKey }),
  call: ({ parameters: { conversationId, userId }, subject }) => ({
    path: '/gateway/v3/classify',
    headers: {
      ...(conversationId !== undefined && { 'lasso-conversation-id': conversationId }),
      ...(userId !== undefined && { 'lasso-user-id': userId }),
    },
    body: { messages: messagesOf(subject), messageType: subject.phase === 'input' ? 'PROMPT' : 'COMPLETION' },
  }),
  answer: z.looseObject({ violations_detected: z.boolean(), deputies: z.record(z.string(), z.boolean()).nullish() }),
  find: ({ violations_detected: violated, deputies }) => ({ passed: !violated, data: { deputies: trueNames(deputies ?? {}) } }),
})
