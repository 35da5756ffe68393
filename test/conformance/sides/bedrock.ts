import {
  BedrockRuntimeClient,
  type ContentBlock,
  ConverseCommand,
  type ConverseCommandInput,
  type ConverseCommandOutput,
  ConverseStreamCommand,
  type ConverseStreamOutput,
  type Message,
  type StopReason,
  type TokenUsage,
} from '@aws-sdk/client-bedrock-runtime'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { eventStreamMessage } from '../../../src/gateway/wire/event-stream.ts'
import { json } from '../../support/dialects/strict.ts'
import { refusalOfConverse } from '../../support/dialects/strict-bedrock.ts'
import type { Received } from '../../support/emulator/emulator.ts'
import {
  type Address,
  type Ask,
  heardOf,
  inOrder,
  type Lines,
  type Piece,
  type ProviderSide,
  type Result,
  type Say,
  saidOf,
  type Stop,
  type Talk,
  type Talker,
  thoughtLine,
} from '../talk.ts'

type Document = NonNullable<ContentBlock.ToolUseMember['toolUse']['input']>

const toResult = ({ result }: Result): ContentBlock => ({ toolResult: { toolUseId: result.id, content: [{ text: result.text }] } })

function toBlock(piece: Piece): ContentBlock {
  if ('text' in piece) return { text: piece.text }
  if ('image' in piece) return { image: { format: 'png', source: { bytes: Buffer.from(piece.image.data, 'base64') } } }
  if ('file' in piece) return { document: { format: 'pdf', name: 'plan', source: { bytes: Buffer.from(piece.file.data, 'base64') } } }
  if ('audio' in piece) return { audio: { format: 'wav', source: { bytes: Buffer.from(piece.audio.data, 'base64') } } }
  if ('video' in piece) return { video: { format: 'mp4', source: { bytes: Buffer.from(piece.video.data, 'base64') } } }
  if ('call' in piece) return { toolUse: { toolUseId: piece.call.id, name: piece.call.name, input: piece.call.args as Document } }
  return toResult(piece)
}

const toInput = (ask: Ask, modelId: string): ConverseCommandInput => ({
  modelId,
  inferenceConfig: { maxTokens: ask.maxTokens, ...(ask.stop !== undefined && { stopSequences: [ask.stop] }) },
  messages: ask.turns.map(({ role, pieces }) => ({ role, content: pieces.map(toBlock) })),
  ...(ask.system !== undefined && { system: [{ text: ask.system }] }),
  ...(ask.tools && {
    toolConfig: { tools: ask.tools.map(({ name, parameters }) => ({ toolSpec: { name, inputSchema: { json: parameters as Document } } })) },
  }),
  ...(ask.schema && {
    outputConfig: { textFormat: { type: 'json_schema' as const, structure: { jsonSchema: { schema: JSON.stringify(ask.schema) } } } },
  }),
  ...(ask.thinks && { additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 1024 } } }),
})

const stops: Readonly<Record<string, Stop>> = {
  end_turn: 'stop',
  stop_sequence: 'stop-sequence',
  max_tokens: 'length',
  tool_use: 'tool-calls',
  content_filtered: 'content-filter',
}

interface Gathered {
  readonly content: readonly ContentBlock[]
  readonly stopReason: string | undefined
  readonly usage: TokenUsage | undefined
}

function sayOf({ content, stopReason, usage }: Gathered): Say {
  const thought = content.flatMap((block) => block.reasoningContent?.reasoningText ?? [])[0]
  const text = content.flatMap((block) => (block.text === undefined ? [] : [block.text])).join('')
  return {
    ...(thought && { thought: { text: thought.text ?? '', signature: thought.signature ?? '' } }),
    ...(text !== '' && { text }),
    calls: content.flatMap(({ toolUse }) =>
      toolUse ? [{ id: toolUse.toolUseId ?? '', name: toolUse.name ?? '', args: toolUse.input as Record<string, unknown> }] : [],
    ),
    stop: stops[stopReason ?? ''] ?? ('none' as Stop),
    counts: {
      input: (usage?.inputTokens ?? -1) + (usage?.cacheReadInputTokens ?? 0),
      cached: usage?.cacheReadInputTokens ?? 0,
      output: usage?.outputTokens ?? -1,
      thought: 0,
    },
  }
}

/** Adds up a stream, as a caller of the client does. */
async function gather(events: AsyncIterable<ConverseStreamOutput>): Promise<Gathered> {
  const content: { text?: string; thought?: string; signature?: string; id?: string; name?: string; input: string }[] = []
  let stopReason: string | undefined
  let usage: TokenUsage | undefined
  for await (const event of events) {
    if (event.contentBlockStart) {
      const { toolUse } = event.contentBlockStart.start ?? {}
      content[event.contentBlockStart.contentBlockIndex ?? 0] = { id: toolUse?.toolUseId ?? '', name: toolUse?.name ?? '', input: '' }
    } else if (event.contentBlockDelta) {
      const block = (content[event.contentBlockDelta.contentBlockIndex ?? 0] ??= { input: '' })
      const { delta } = event.contentBlockDelta
      if (delta?.text !== undefined) block.text = (block.text ?? '') + delta.text
      block.input += delta?.toolUse?.input ?? ''
      if (delta?.reasoningContent?.text !== undefined) block.thought = delta.reasoningContent.text
      if (delta?.reasoningContent?.signature !== undefined) block.signature = delta.reasoningContent.signature
    }
    stopReason ??= event.messageStop?.stopReason
    usage ??= event.metadata?.usage
  }
  return {
    stopReason,
    usage,
    content: content.map(({ text, thought, signature, id, name, input }): ContentBlock => {
      if (thought !== undefined) return { reasoningContent: { reasoningText: { text: thought, signature } } }
      return text === undefined ? { toolUse: { toolUseId: id, name, input: JSON.parse(input) as Document } } : { text }
    }),
  }
}

/** The client of AWS, which proves the emulator of Bedrock. */
export function converseTalker({ origin, model }: Address): Talker {
  const client = new BedrockRuntimeClient({
    endpoint: origin,
    region: 'us-east-1',
    maxAttempts: 1,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    requestHandler: new NodeHttpHandler(),
  })
  const send = async (input: ConverseCommandInput, stream: boolean): Promise<Talk> => {
    const found = stream ? await streamed(input) : await whole(input)
    const say = sayOf(found)
    const messages: Message[] = [...(input.messages ?? []), { role: 'assistant', content: [...found.content] }]
    return {
      said: saidOf(say),
      calls: say.calls ?? [],
      answer: (results) => send({ ...input, messages: [...messages, { role: 'user', content: results.map(toResult) }] }, stream),
    }
  }
  const whole = async (input: ConverseCommandInput): Promise<Gathered> => {
    const { output, stopReason, usage } = await client.send(new ConverseCommand(input))
    return { content: output?.message?.content ?? [], stopReason, usage }
  }
  const streamed = async (input: ConverseCommandInput): Promise<Gathered> => {
    const { stream: events } = await client.send(new ConverseStreamCommand(input))
    if (events === undefined) throw new Error('no stream')
    return gather(events)
  }
  return { talk: (ask, stream) => send(toInput(ask, model), stream) }
}

/** Blocks as they stand on the wire, where bytes are base64. */
interface Block {
  readonly text?: string
  readonly image?: { readonly format: string; readonly source: { readonly bytes: string } }
  readonly audio?: { readonly format: string; readonly source: { readonly bytes: string } }
  readonly video?: { readonly format: string; readonly source: { readonly bytes: string } }
  readonly document?: { readonly format: string; readonly source: { readonly bytes: string } }
  readonly toolUse?: { readonly toolUseId: string; readonly name: string; readonly input: unknown }
  readonly toolResult?: { readonly toolUseId: string; readonly content: readonly { readonly text?: string; readonly json?: unknown }[] }
  readonly reasoningContent?: { readonly reasoningText?: { readonly text: string; readonly signature?: string } }
}

function heardBlock(role: string, block: Block, names: Map<string, string>): Lines {
  if (block.text !== undefined) return [`${role} text ${block.text}`]
  if (block.image !== undefined) return [`${role} image image/${block.image.format} ${block.image.source.bytes}`]
  if (block.audio !== undefined) return [`${role} audio audio/${block.audio.format} ${block.audio.source.bytes}`]
  if (block.video !== undefined) return [`${role} video video/${block.video.format} ${block.video.source.bytes}`]
  if (block.document !== undefined) return [`${role} file application/${block.document.format} ${block.document.source.bytes}`]
  if (block.toolUse !== undefined) {
    names.set(block.toolUse.toolUseId, block.toolUse.name)
    return [`assistant call ${block.toolUse.name} ${inOrder(block.toolUse.input)}`]
  }
  if (block.toolResult !== undefined) {
    const said = block.toolResult.content.map(({ text, json: fields }) => text ?? JSON.stringify(fields)).join('')
    return [`result ${names.get(block.toolResult.toolUseId) ?? 'of nothing'} ${said}`]
  }
  const thought = block.reasoningContent?.reasoningText
  return thought ? [thoughtLine(thought.text, thought.signature ?? null)] : []
}

interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: readonly Block[] }[]
  readonly system?: readonly { readonly text?: string }[]
  readonly inferenceConfig?: { readonly maxTokens?: number; readonly stopSequences?: readonly string[] }
  readonly toolConfig?: {
    readonly tools: readonly {
      readonly toolSpec?: { readonly name: string; readonly inputSchema: { readonly json: Readonly<Record<string, unknown>> } }
    }[]
    readonly toolChoice?: { readonly tool?: { readonly name: string } }
  }
  /** Claude's words, and those of Nova. */
  readonly additionalModelRequestFields?: {
    readonly thinking?: { readonly type: string }
    readonly reasoningConfig?: { readonly type: string }
  }
  readonly outputConfig?: { readonly textFormat?: { readonly structure: { readonly jsonSchema: { readonly schema: string } } } }
}

function heard({ json: body }: Received): Lines {
  const asked = body as unknown as Asked
  const names = new Map<string, string>()
  const schema = asked.outputConfig?.textFormat?.structure.jsonSchema.schema
  const forced = asked.toolConfig?.toolChoice?.tool?.name
  const { thinking, reasoningConfig } = asked.additionalModelRequestFields ?? {}
  return [
    ...(asked.system ?? []).map(({ text }) => `system ${text}`),
    ...asked.messages.flatMap(({ role, content }) => content.flatMap((block) => heardBlock(role, block, names))),
    ...heardOf({
      turns: [],
      tools: (asked.toolConfig?.tools ?? []).flatMap(({ toolSpec: spec }) =>
        spec ? [{ name: spec.name, parameters: spec.inputSchema.json }] : [],
      ),
      ...(schema !== undefined && { schema: JSON.parse(schema) as Record<string, unknown> }),
      thinks: (thinking ?? reasoningConfig)?.type === 'enabled',
      ...(asked.inferenceConfig?.stopSequences && { stop: asked.inferenceConfig.stopSequences.join(',') }),
      maxTokens: asked.inferenceConfig?.maxTokens ?? -1,
    }),
    ...(forced === undefined ? [] : [`must call ${forced}`]),
  ]
}

const reasons: Readonly<Record<Stop, StopReason>> = {
  stop: 'end_turn',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'content_filtered',
}

const usageOf = ({ counts }: Say): TokenUsage => ({
  inputTokens: counts.input - counts.cached,
  cacheReadInputTokens: counts.cached,
  outputTokens: counts.output,
  totalTokens: counts.input + counts.output,
})

const blocksOf = (say: Say): ContentBlock[] => [
  ...(say.thought ? [{ reasoningContent: { reasoningText: { ...say.thought } } }] : []),
  ...(say.text === undefined ? [] : [{ text: say.text }]),
  ...(say.calls ?? []).map(({ id, name, args }) => ({ toolUse: { toolUseId: id, name, input: args as Document } })),
]

function eventsOf(say: Say): readonly ConverseStreamOutput[] {
  return [
    { messageStart: { role: 'assistant' } },
    ...blocksOf(say).flatMap((block, contentBlockIndex): ConverseStreamOutput[] => {
      const delta = (given: NonNullable<ConverseStreamOutput['contentBlockDelta']>['delta']): ConverseStreamOutput => ({
        contentBlockDelta: { contentBlockIndex, delta: given },
      })
      const stop: ConverseStreamOutput = { contentBlockStop: { contentBlockIndex } }
      if (block.text !== undefined) return [...Array.from(block.text, (text) => delta({ text })), stop]
      const thought = block.reasoningContent?.reasoningText
      if (thought !== undefined)
        return [
          delta({ reasoningContent: { text: thought.text ?? '' } }),
          delta({ reasoningContent: { signature: thought.signature ?? '' } }),
          stop,
        ]
      const { toolUseId, name, input } = block.toolUse ?? {}
      return [
        { contentBlockStart: { contentBlockIndex, start: { toolUse: { toolUseId, name } } } },
        ...(JSON.stringify(input).match(/.{1,5}/g) ?? []).map((piece) => delta({ toolUse: { input: piece } })),
        stop,
      ]
    }),
    { messageStop: { stopReason: reasons[say.stop] } },
    { metadata: { usage: usageOf(say), metrics: { latencyMs: 5 } } },
  ]
}

/** The bytes of a stream of AWS. */
export const converseBytes = (say: Say): Buffer =>
  Buffer.concat(
    eventsOf(say).flatMap((event) =>
      Object.entries(event).map(([type, payload]) =>
        eventStreamMessage({ ':message-type': 'event', ':event-type': type, ':content-type': 'application/json' }, JSON.stringify(payload)),
      ),
    ),
  )

/** Bedrock's API for conversations. */
export const converseProvider: ProviderSide = {
  isStream: ({ url }) => url.endsWith('/converse-stream'),
  refusal: refusalOfConverse,
  heard,
  whole: (say) =>
    json({
      output: { message: { role: 'assistant', content: blocksOf(say) } },
      stopReason: reasons[say.stop],
      usage: usageOf(say),
      metrics: { latencyMs: 5 },
    } satisfies Omit<ConverseCommandOutput, '$metadata'>),
  stream: (say) => ({
    status: 200,
    headers: { 'content-type': 'application/vnd.amazon.eventstream' },
    bodyBase64: converseBytes(say).toString('base64'),
  }),
  error: (_, message) => ({ message }),
}
