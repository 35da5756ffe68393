import { z } from 'zod'
import { calledUrl } from '../default/webhook.ts'
import { partner } from './partner.ts'
import { bearer, key, messagesOf, redact } from './words.ts'

/** Guards a conversation by the policy of a collector. */
export const crowdstrikeGuard = partner({
  id: 'crowdstrike-aidr.guardChatCompletions',
  title: 'CrowdStrike AIDR',
  about: 'Guards the conversation by the policy of a collector: blocked texts fail; with `redact` its changes are made.',
  since: '1.8.0',
  basis: 'documented',
  fields: { redact },
  credentials: { apiKey: key, baseUrl: calledUrl },
  secrets: ['apiKey'],
  urls: ['baseUrl'],
  changes: (parameters) => parameters.redact,
  takes: 'all',
  service: ({ baseUrl }) => baseUrl,
  domains: ['crowdstrike.com'],
  sign: ({ apiKey }) => bearer(apiKey),
  call: ({ subject }) => ({
    path: '/v1/guard_chat_completions',
    body: {
      guard_input: { messages: messagesOf(subject) },
      event_type: subject.phase,
      llm_provider: subject.request.provider,
      ...(subject.request.model !== null && { model: subject.request.model }),
      ...(subject.request.metadata['_user'] !== undefined && { user_id: subject.request.metadata['_user'] }),
    },
  }),
  answer: z.looseObject({
    result: z.looseObject({
      blocked: z.boolean(),
      transformed: z.boolean().nullish(),
      policy: z.string().nullish(),
      guard_output: z.looseObject({ messages: z.array(z.looseObject({ content: z.string() })).optional() }).nullish(),
    }),
  }),
  find({ result: { blocked, transformed, policy, guard_output: output } }, { parameters }) {
    const changed = !blocked && transformed === true && parameters.redact
    return {
      passed: !blocked,
      data: { policy: policy ?? null, transformed: transformed === true },
      ...(changed && { texts: (output?.messages ?? []).map(({ content }) => content) }),
    }
  },
})
