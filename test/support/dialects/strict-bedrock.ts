import { z } from 'zod'
import type { Received } from '../emulator/emulator.ts'
import { firstFault } from './strict.ts'

const text = z.string()
const filled = z.string().regex(/\S/, 'The text field in the ContentBlock object is blank.')
const fields = z.record(text, z.unknown())
const cachePoint = z.strictObject({ type: z.literal('default'), ttl: text.optional() })
const source = z.union([
  z.strictObject({ bytes: z.base64() }),
  z.strictObject({ s3Location: z.strictObject({ uri: text, bucketOwner: text.optional() }) }),
])
const image = z.strictObject({ format: z.enum(['png', 'jpeg', 'gif', 'webp']), source })
const document = z.strictObject({
  format: z.enum(['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md']),
  name: text.regex(/^[A-Za-z0-9()[\] -]{1,200}$/),
  source: z.union([source, z.strictObject({ text })]),
  citations: fields.optional(),
  context: text.optional(),
})
const block = z.union([
  z.strictObject({ text: filled }),
  z.strictObject({ image }),
  z.strictObject({ document }),
  z.strictObject({ video: fields }),
  z.strictObject({ audio: z.strictObject({ format: z.enum(['mp3', 'wav', 'ogg', 'opus', 'flac', 'aac', 'webm', 'mp4', 'm4a']), source }) }),
  z.strictObject({
    toolUse: z.strictObject({
      toolUseId: text.regex(/^[\w-]{1,64}$/),
      name: text.regex(/^[\w-]{1,64}$/),
      input: fields,
      type: text.optional(),
    }),
  }),
  z.strictObject({
    toolResult: z.strictObject({
      toolUseId: text.regex(/^[\w-]{1,64}$/),
      content: z.array(
        z.union([
          z.strictObject({ text }),
          z.strictObject({ json: fields }),
          z.strictObject({ image }),
          z.strictObject({ document }),
          z.strictObject({ video: fields }),
        ]),
      ),
      status: z.enum(['success', 'error']).optional(),
      type: text.optional(),
    }),
  }),
  z.strictObject({
    reasoningContent: z.union([
      z.strictObject({ reasoningText: z.strictObject({ text, signature: text.optional() }) }),
      z.strictObject({ redactedContent: z.base64() }),
    ]),
  }),
  z.strictObject({ cachePoint }),
])
const tool = z.union([
  z.strictObject({
    toolSpec: z.strictObject({
      name: text,
      description: z.string().min(1).optional(),
      inputSchema: z.strictObject({ json: fields }),
      strict: z.boolean().optional(),
    }),
  }),
  z.strictObject({ cachePoint }),
])
const request = z.strictObject({
  messages: z.array(z.strictObject({ role: z.enum(['user', 'assistant']), content: z.array(block).min(1) })).min(1),
  system: z.array(z.union([z.strictObject({ text: filled }), z.strictObject({ cachePoint })])).optional(),
  inferenceConfig: z
    .strictObject({
      maxTokens: z.number().int().positive().optional(),
      temperature: z.number().max(1).optional(),
      topP: z.number().max(1).optional(),
      stopSequences: z.array(text).max(2500).optional(),
    })
    .optional(),
  toolConfig: z
    .strictObject({
      tools: z.array(tool).min(1),
      toolChoice: z
        .union([
          z.strictObject({ auto: z.strictObject({}) }),
          z.strictObject({ any: z.strictObject({}) }),
          z.strictObject({ tool: z.strictObject({ name: text }) }),
        ])
        .optional(),
    })
    .optional(),
  additionalModelRequestFields: fields.optional(),
  additionalModelResponseFieldPaths: z.array(text).optional(),
  requestMetadata: z.record(text, text).optional(),
  outputConfig: z
    .strictObject({
      effort: text.optional(),
      textFormat: z
        .strictObject({
          type: z.literal('json_schema'),
          structure: z.strictObject({ jsonSchema: z.strictObject({ schema: text, name: text.optional(), description: text.optional() }) }),
        })
        .optional(),
    })
    .optional(),
  performanceConfig: fields.optional(),
  serviceTier: z.strictObject({ type: text }).optional(),
  guardrailConfig: fields.optional(),
})
type Request = z.infer<typeof request>

/** Turns alternate and begin with the user's; each round of calls has its results in the next turn; text stands before calls. */
function faultOfTurns({ messages, toolConfig }: Request): string | null {
  let open: readonly string[] = []
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== (index % 2 === 0 ? 'user' : 'assistant')) return 'A conversation must alternate between user and assistant roles.'
    const results = content.flatMap((part) => ('toolResult' in part ? [part.toolResult.toolUseId] : []))
    if (results.toSorted().join(' ') !== [...open].toSorted().join(' '))
      return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks: ${open.join(', ')}`
    open = content.flatMap((part) => ('toolUse' in part ? [part.toolUse.toolUseId] : []))
    const uses = content.findIndex((part) => 'toolUse' in part)
    if (uses !== -1 && content.slice(uses).some((part) => 'text' in part)) return 'text must come before toolUse'
    if ((open.length > 0 || results.length > 0) && toolConfig === undefined)
      return 'The toolConfig field must be defined when using toolUse and toolResult content blocks.'
    if (content.some((part) => 'document' in part) && !content.some((part) => 'text' in part))
      return 'A text block is required when you include a document.'
  }
  return null
}

/** Why Bedrock's Converse refuses a request, in its own words; null: it takes it. */
export function refusalOfConverse({ url, json: body, headers }: Received): string | null {
  if (!/\/model\/[^/]+\/converse(?:-stream)?$/.test(url)) return `no ${url}`
  if (!/^(?:AWS4-HMAC-SHA256 |Bearer )/.test(headers.authorization ?? '')) return 'Missing Authentication Token'
  const read = request.safeParse(body)
  return read.success ? faultOfTurns(read.data) : firstFault(read.error)
}
