import type { Fields } from '../../../lib/json/fields.ts'
import { isEffort } from '../effort.ts'
import { unread } from '../leftovers.ts'
import type { CacheMark } from '../neutral/parts.ts'
import { emptyRequest, type NeutralRequest, type OutputFormat, type Reasoning, type Tool, type ToolChoice } from '../neutral/request.ts'
import { fieldsAt, fieldsIn, flagIn, listIn, neededText, numberIn, textIn, unreadable } from '../reading.ts'
import { readMark } from './blocks-decode.ts'
import { unplacedIn } from '../unplaced.ts'
import { fieldsRead } from './fields-read.ts'
import { readMessages } from './messages-decode.ts'

/** The fields that are read. */
export const known: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'metadata',
  'service_tier',
  'stream',
  'cache_control',
])

/** Reads a request of Anthropic's Messages. */
export function decodeRequest(body: Fields): NeutralRequest {
  const { system, turns } = readMessages(body['system'], listIn(body, 'messages'))
  const output = fieldsIn(body, 'output_config')
  const metadata = fieldsIn(body, 'metadata')
  const stop = listIn(body, 'stop_sequences')
  const choice = fieldsIn(body, 'tool_choice')
  const tier = textIn(body, 'service_tier')
  return {
    ...emptyRequest('anthropic'),
    model: textIn(body, 'model') ?? '',
    system,
    turns,
    tools: listIn(body, 'tools').map((tool, index) => readTool(fieldsAt(tool, `tools[${index}]`), `tools[${index}]`)),
    toolChoice: readChoice(choice),
    parallelTools: choice?.['disable_parallel_tool_use'] === true ? false : null,
    maxTokens: numberIn(body, 'max_tokens'),
    stop: stop.filter((one) => typeof one === 'string'),
    format: readFormat(output === null ? fieldsIn(body, 'output_format') : fieldsIn(output, 'format', 'output_config.')),
    temperature: numberIn(body, 'temperature'),
    topP: numberIn(body, 'top_p'),
    topK: numberIn(body, 'top_k'),
    reasoning: readReasoning(fieldsIn(body, 'thinking'), output),
    user: metadata === null ? null : textIn(metadata, 'user_id', 'metadata.'),
    tier: tier === 'standard_only' ? 'default' : tier,
    cache: readMark(body['cache_control']),
    stream: flagIn(body, 'stream') ?? false,
    streamUsage: true,
    bag: { anthropic: unread(body, known) },
    unplaced: unplacedIn(body, fieldsRead),
  }
}

function readFormat(format: Fields | null): OutputFormat | null {
  if (format === null) return null
  const schema = fieldsIn(format, 'schema', 'output_config.format.')
  if (schema === null) throw unreadable('output_config.format.schema', 'an object')
  return { kind: 'schema', schema, name: null, description: null, strict: null }
}

function readReasoning(thinking: Fields | null, output: Fields | null): Reasoning | null {
  const effort = output === null ? null : textIn(output, 'effort', 'output_config.')
  if (thinking === null && effort === null) return null
  if (effort !== null && !isEffort(effort)) throw unreadable('output_config.effort', 'low, medium, high, xhigh or max')
  const isOff = thinking?.['type'] === 'disabled'
  return {
    effort: isOff ? 'none' : effort,
    budget: thinking === null ? null : numberIn(thinking, 'budget_tokens', 'thinking.'),
    enabled: thinking === null ? null : !isOff,
    show: thinking === null ? null : !isOff && thinking['display'] !== 'omitted',
  }
}

function readTool(tool: Fields, at: string): Tool {
  const type = textIn(tool, 'type', `${at}.`) ?? 'custom'
  if (type !== 'custom') return { kind: 'vendor', dialect: 'anthropic', type, raw: tool, at }
  const cache: CacheMark | null = readMark(tool['cache_control'])
  return {
    kind: 'function',
    name: neededText(tool, 'name', `${at}.`),
    description: textIn(tool, 'description', `${at}.`),
    parameters: fieldsIn(tool, 'input_schema', `${at}.`),
    strict: flagIn(tool, 'strict', `${at}.`),
    cache,
    at,
    bag: null,
  }
}

const modes: Readonly<Record<string, ToolChoice['mode']>> = { auto: 'auto', none: 'none', any: 'required' }

function readChoice(choice: Fields | null): ToolChoice | null {
  if (choice === null) return null
  const { type } = choice
  if (type === 'tool') return { mode: 'required', names: [neededText(choice, 'name', 'tool_choice.')] }
  const mode = typeof type === 'string' && Object.hasOwn(modes, type) ? modes[type] : undefined
  if (mode === undefined) throw unreadable('tool_choice.type', 'auto, any, tool or none')
  return { mode, names: null }
}
