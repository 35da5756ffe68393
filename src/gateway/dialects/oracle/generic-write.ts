import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { EncodeContext } from '../codec.ts'
import { compact } from '../compact.ts'
import type { Loss } from '../neutral/loss.ts'
import type { NeutralRequest } from '../neutral/request.ts'
import { fieldsIn, saidFields, saidList, saidText } from '../reading.ts'
import { servingFields } from './serving-mode.ts'

/** The fields of a chat completion that have another name, and the same values. */
const names: Readonly<Record<string, string>> = {
  max_tokens: 'maxTokens',
  max_completion_tokens: 'maxCompletionTokens',
  temperature: 'temperature',
  top_p: 'topP',
  stop: 'stop',
  n: 'numGenerations',
  seed: 'seed',
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
  logit_bias: 'logitBias',
  metadata: 'metadata',
  parallel_tool_calls: 'isParallelToolCalls',
  stream: 'isStream',
}
/** Fields that are written otherwise. */
const others: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'tools',
  'tool_choice',
  'response_format',
  'reasoning_effort',
  'verbosity',
  'logprobs',
  'top_logprobs',
  'stream_options',
  'service_tier',
])

/** docs.oracle.com/iaas/api: GenericChatRequest, which is a chat completion in other words. */
export function write(body: Fields, request: NeutralRequest, { model, traits, loss }: EncodeContext): Fields {
  const written: Record<string, unknown> = { apiFormat: 'GENERIC', messages: saidList(body, 'messages').map(writeMessage) }
  for (const [name, value] of Object.entries(body)) {
    const renamed = Object.hasOwn(names, name) ? names[name] : undefined
    if (renamed !== undefined) written[renamed] = value
    else if (!others.has(name) && !isUsual(name, value)) loss.dropAt(name)
  }
  dropStrict(request, loss)
  const chatRequest = compact({
    ...written,
    topK: request.topK,
    ...writeTools(body),
    responseFormat: writeFormat(fieldsIn(body, 'response_format')),
    reasoningEffort: effortOf(saidText(body, 'reasoning_effort'), loss),
    verbosity: saidText(body, 'verbosity')?.toUpperCase() ?? null,
    serviceTier: tierOf(saidText(body, 'service_tier'), loss),
    logProbs: body['logprobs'] === true ? (body['top_logprobs'] ?? 0) : null,
    streamOptions: request.stream ? { isIncludeUsage: true } : null,
  })
  return { ...servingFields(model, traits), chatRequest }
}

function dropStrict({ tools }: NeutralRequest, loss: Loss): void {
  for (const tool of tools) if (tool.kind === 'function' && tool.strict === true) loss.dropAt(`${tool.at}.strict`)
}

/** Returns true for a value that is the default there: responses are not stored. */
const isUsual = (name: string, value: unknown): boolean => name === 'store' && value === false

const efforts: ReadonlySet<string> = new Set(['NONE', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH'])

function effortOf(effort: string | null, loss: Loss): string | null {
  if (effort === null) return null
  const word = effort.toUpperCase()
  if (efforts.has(word)) return word
  loss.drop('reasoning', 'is at most high there')
  return 'HIGH'
}

const tiers: ReadonlySet<string> = new Set(['auto', 'default', 'priority'])

function tierOf(tier: string | null, loss: Loss): string | null {
  if (tier === null || tiers.has(tier)) return tier?.toUpperCase() ?? null
  loss.drop('tier', 'is none of auto, default and priority there')
  return null
}

function writeMessage(message: Fields): Fields {
  const calls = saidList(message, 'tool_calls')
  return compact({
    role: saidText(message, 'role')?.toUpperCase(),
    content: writeContent(message['content']),
    toolCalls: calls.length === 0 ? null : calls.map(writeCall),
    toolCallId: message['tool_call_id'],
    reasoningContent: message['reasoning_content'],
  })
}

function writeContent(content: unknown): readonly Fields[] | null {
  if (typeof content === 'string') return [{ type: 'TEXT', text: content }]
  return Array.isArray(content) ? content.filter((part) => isFields(part)).map(writePart) : null
}

/** Images, documents and sounds are addresses, which may hold the bytes themselves. */
function writePart(part: Fields): Fields {
  if (part['type'] === 'image_url') return { type: 'IMAGE', imageUrl: upperDetail(saidFields(part, 'image_url') ?? {}) }
  if (part['type'] === 'file') return { type: 'DOCUMENT', documentUrl: { url: saidFields(part, 'file')?.['file_data'] } }
  if (part['type'] !== 'input_audio') return { type: 'TEXT', text: part['text'] }
  const { data, format } = saidFields(part, 'input_audio') ?? {}
  return { type: 'AUDIO', audioUrl: { url: `data:audio/${String(format)};base64,${String(data)}` } }
}

const upperDetail = (image: Fields): Fields => compact({ url: image['url'], detail: saidText(image, 'detail')?.toUpperCase() ?? null })

function writeCall(call: Fields): Fields {
  const { name, arguments: given } = saidFields(call, 'function') ?? {}
  return { id: call['id'], type: 'FUNCTION', name, arguments: given }
}

function writeTools(body: Fields): Fields {
  const tools = saidList(body, 'tools').map((tool) => {
    const { name, description, parameters } = saidFields(tool, 'function') ?? {}
    return compact({ type: 'FUNCTION', name, description, parameters })
  })
  if (tools.length === 0) return {}
  const choice = body['tool_choice'] ?? null
  if (choice === null) return { tools }
  if (typeof choice === 'string') return { tools, toolChoice: { type: choice.toUpperCase() } }
  const chosen = fieldsIn(body, 'tool_choice') ?? {}
  const allowed = saidFields(chosen, 'allowed_tools')
  if (allowed === null) return { tools, toolChoice: { type: 'FUNCTION', name: saidFields(chosen, 'function')?.['name'] } }
  const able = new Set(saidList(allowed, 'tools').map((tool) => saidFields(tool, 'function')?.['name']))
  return {
    tools: tools.filter(({ name }) => able.has(name)),
    toolChoice: { type: saidText(allowed, 'mode')?.toUpperCase() },
  }
}

function writeFormat(format: Fields | null): Fields | null {
  if (format === null) return null
  if (format['type'] !== 'json_schema') return { type: 'JSON_OBJECT' }
  const { name, description, schema, strict } = saidFields(format, 'json_schema') ?? {}
  return { type: 'JSON_SCHEMA', jsonSchema: compact({ name, description, schema, isStrict: strict }) }
}
