import { z } from 'zod'
import type { Received } from '../emulator/emulator.ts'
import { firstFault } from './strict.ts'

const text = z.string()
const fields = z.record(text, z.unknown())
const address = z.strictObject({ url: text, detail: z.enum(['AUTO', 'LOW', 'HIGH']).optional() })
const textPart = z.strictObject({ type: z.literal('TEXT'), text })
const content = z
  .array(
    z.discriminatedUnion('type', [
      textPart,
      z.strictObject({ type: z.literal('IMAGE'), imageUrl: address }),
      z.strictObject({ type: z.literal('DOCUMENT'), documentUrl: address }),
      z.strictObject({ type: z.literal('AUDIO'), audioUrl: address }),
    ]),
  )
  .min(1)
const call = z.strictObject({ id: text, type: z.literal('FUNCTION'), name: text, arguments: text })
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.enum(['SYSTEM', 'DEVELOPER']), content, name: text.optional() }),
  z.strictObject({ role: z.literal('USER'), content, name: text.optional() }),
  z.strictObject({
    role: z.literal('ASSISTANT'),
    content: content.optional(),
    toolCalls: z.array(call).min(1).optional(),
    reasoningContent: text.optional(),
    refusal: text.optional(),
  }),
  z.strictObject({ role: z.literal('TOOL'), content, toolCallId: text }),
])
const sampling = {
  maxTokens: z.number().int().positive().optional(),
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  topK: z.number().int().optional(),
  seed: z.number().int().optional(),
  isStream: z.boolean().optional(),
  streamOptions: z.strictObject({ isIncludeUsage: z.boolean() }).optional(),
}
const generic = z.strictObject({
  apiFormat: z.literal('GENERIC'),
  messages: z.array(message).min(1),
  ...sampling,
  maxCompletionTokens: z.number().int().positive().optional(),
  numGenerations: z.number().int().optional(),
  frequencyPenalty: z.number().optional(),
  presencePenalty: z.number().optional(),
  stop: z.array(text).min(1).optional(),
  logProbs: z.number().int().optional(),
  logitBias: fields.optional(),
  metadata: fields.optional(),
  reasoningEffort: z.enum(['NONE', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH']).optional(),
  verbosity: z.enum(['LOW', 'MEDIUM', 'HIGH']).optional(),
  serviceTier: z.enum(['AUTO', 'DEFAULT', 'PRIORITY']).optional(),
  isParallelToolCalls: z.boolean().optional(),
  responseFormat: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('TEXT') }),
      z.strictObject({ type: z.literal('JSON_OBJECT') }),
      z.strictObject({
        type: z.literal('JSON_SCHEMA'),
        jsonSchema: z.strictObject({ name: text, description: text.optional(), schema: fields, isStrict: z.boolean().optional() }),
      }),
    ])
    .optional(),
  tools: z
    .array(z.strictObject({ type: z.literal('FUNCTION'), name: text, description: text.optional(), parameters: fields.optional() }))
    .min(1)
    .optional(),
  toolChoice: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.enum(['AUTO', 'NONE', 'REQUIRED']) }),
      z.strictObject({ type: z.literal('FUNCTION'), name: text }),
    ])
    .optional(),
})
const cohereCall = z.strictObject({ name: text, parameters: fields })
const cohereResult = z.strictObject({ call: cohereCall, outputs: z.array(fields).min(1) })
const first = z.strictObject({
  apiFormat: z.literal('COHERE'),
  message: text,
  chatHistory: z
    .array(
      z.discriminatedUnion('role', [
        z.strictObject({ role: z.enum(['USER', 'SYSTEM']), message: text }),
        z.strictObject({ role: z.literal('CHATBOT'), message: text.optional(), toolCalls: z.array(cohereCall).min(1).optional() }),
        z.strictObject({ role: z.literal('TOOL'), toolResults: z.array(cohereResult).min(1) }),
      ]),
    )
    .min(1)
    .optional(),
  preambleOverride: text.optional(),
  documents: z.array(fields).min(1).optional(),
  tools: z
    .array(
      z.strictObject({
        name: text,
        description: text,
        parameterDefinitions: z
          .record(text, z.strictObject({ type: text, description: text.optional(), isRequired: z.boolean().optional() }))
          .optional(),
      }),
    )
    .min(1)
    .optional(),
  toolResults: z.array(cohereResult).min(1).optional(),
  responseFormat: z.strictObject({ type: z.literal('JSON_OBJECT'), schema: fields.optional() }).optional(),
  stopSequences: z.array(text).max(5).optional(),
  frequencyPenalty: z.number().min(0).max(1).optional(),
  presencePenalty: z.number().min(0).max(1).optional(),
  ...sampling,
  topP: z.number().min(0).max(0.99).optional(),
  topK: z.number().int().min(0).max(500).optional(),
})
const cohereImage = z.strictObject({
  type: z.literal('IMAGE_URL'),
  imageUrl: z.strictObject({ url: text, detail: z.enum(['AUTO', 'LOW', 'HIGH']).optional() }),
})
const secondCall = z.strictObject({ id: text, type: z.literal('FUNCTION'), function: z.strictObject({ name: text, arguments: text }) })
const second = z.strictObject({
  apiFormat: z.literal('COHEREV2'),
  messages: z
    .array(
      z.discriminatedUnion('role', [
        z.strictObject({ role: z.literal('SYSTEM'), content: z.array(textPart).min(1) }),
        z.strictObject({ role: z.literal('USER'), content: z.array(z.union([textPart, cohereImage])).min(1) }),
        z.strictObject({
          role: z.literal('ASSISTANT'),
          content: z.array(textPart),
          toolPlan: text.optional(),
          toolCalls: z.array(secondCall).min(1).optional(),
        }),
        z.strictObject({ role: z.literal('TOOL'), toolCallId: text, content: z.array(textPart).min(1) }),
      ]),
    )
    .min(1),
  documents: z.array(fields).min(1).optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('FUNCTION'),
        function: z.strictObject({ name: text, description: text.optional(), parameters: fields }),
      }),
    )
    .min(1)
    .optional(),
  toolsChoice: z.enum(['REQUIRED', 'NONE']).optional(),
  isStrictToolsEnabled: z.boolean().optional(),
  isLogProbsEnabled: z.boolean().optional(),
  thinking: z.strictObject({ type: z.enum(['ENABLED', 'DISABLED']), tokenBudget: z.number().int().positive().optional() }).optional(),
  responseFormat: z.strictObject({ type: z.literal('JSON_OBJECT'), schema: fields.optional() }).optional(),
  stopSequences: z.array(text).max(5).optional(),
  frequencyPenalty: z.number().min(0).max(1).optional(),
  presencePenalty: z.number().min(0).max(1).optional(),
  ...sampling,
})
const request = z.strictObject({
  compartmentId: z.literal('ocid1.tenancy.oc1..t'),
  servingMode: z.discriminatedUnion('servingType', [
    z.strictObject({ servingType: z.literal('ON_DEMAND'), modelId: text }),
    z.strictObject({ servingType: z.literal('DEDICATED'), endpointId: text }),
  ]),
  chatRequest: z.discriminatedUnion('apiFormat', [generic, first, second]),
})
type Asked = z.infer<typeof request>

/** A model takes one format, and results answer calls that were made. */
function faultOf({ servingMode, chatRequest }: Asked): string | null {
  const model = servingMode.servingType === 'ON_DEMAND' ? servingMode.modelId : ''
  if (model.startsWith('cohere.') === (chatRequest.apiFormat === 'GENERIC')) return `Please pass in correct format of request for ${model}`
  if (chatRequest.apiFormat === 'COHERE')
    return chatRequest.message === '' && chatRequest.toolResults === undefined ? 'message must be at least 1 token long' : null
  const open = new Set<string>()
  for (const said of chatRequest.messages) {
    if (said.role === 'ASSISTANT') for (const { id } of said.toolCalls ?? []) open.add(id)
    else if (said.role === 'TOOL' && !open.delete(said.toolCallId)) return `${said.toolCallId} answers no call`
  }
  return open.size > 0 ? `calls without results: ${[...open].join(', ')}` : null
}

/** Why Oracle refuses a request for a chat; null: it takes it. */
export function refusalOfOracle({ url, json: body, headers }: Received): string | null {
  if (url !== '/20231130/actions/chat') return `no ${url}`
  if (!/^Signature .*keyId="ocid1\.tenancy\.oc1\.\.t\//.test(headers['authorization'] ?? ''))
    return 'The required information to complete authentication was not provided.'
  const read = request.safeParse(body)
  return read.success ? faultOf(read.data) : firstFault(read.error)
}
