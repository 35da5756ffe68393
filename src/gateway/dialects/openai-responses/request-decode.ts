import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { isEffort } from '../effort.ts'
import { unread } from '../leftovers.ts'
import { emptyRequest, type NeutralRequest, type OutputFormat, type Reasoning, type Tool, type ToolChoice } from '../neutral/request.ts'
import { textPart } from '../neutral/parts.ts'
import { fieldsAt, fieldsIn, flagIn, listIn, neededText, numberIn, textIn, unreadable } from '../reading.ts'
import { unplacedIn } from '../unplaced.ts'
import { withObfuscation } from '../openai-chat/request-decode.ts'
import { fieldsRead } from './fields-read.ts'
import { readItems, toolsType } from './items-decode.ts'
import { nameWithin } from './namespaces.ts'

/** The fields that are read. */
export const known: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'max_output_tokens',
  'temperature',
  'top_p',
  'top_logprobs',
  'reasoning',
  'text',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'include',
  'user',
  'safety_identifier',
  'metadata',
  'store',
  'service_tier',
  'stream',
  'stream_options',
  'truncation',
])

/** The fields of a request that its answer repeats. */
const echoed = [
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'temperature',
  'top_p',
  'max_output_tokens',
  'reasoning',
  'text',
  'truncation',
  'metadata',
  'store',
  'service_tier',
  'user',
]

const logprobsName = 'message.output_text.logprobs'
/** The values of `include` that every provider answers as far as it can. Sealed reasoning is sent unasked. */
const includes: ReadonlySet<unknown> = new Set([logprobsName, 'reasoning.encrypted_content'])

const foreignIncludes = (include: readonly unknown[]): readonly string[] =>
  include.flatMap((name, index) => (includes.has(name) ? [] : [`include[${index}]`]))

/** Reads a request for a response. */
export function decodeRequest(body: Fields): NeutralRequest {
  const { system, turns } = readItems(body['input'])
  const instructions = textIn(body, 'instructions')
  const text = fieldsIn(body, 'text')
  const include = listIn(body, 'include')
  const topLogprobs = numberIn(body, 'top_logprobs')
  // A caller that asks for the most probable tokens of each place wants to read them.
  const tellsLogprobs = include.includes(logprobsName) || (topLogprobs ?? 0) > 0
  return {
    ...emptyRequest('openai-responses'),
    model: textIn(body, 'model') ?? '',
    system: instructions === null || instructions === '' ? system : [textPart(instructions, 'instructions'), ...system],
    turns,
    tools: readAllTools(body),
    toolChoice: readChoice(body['tool_choice']),
    parallelTools: flagIn(body, 'parallel_tool_calls') === false ? false : null,
    maxTokens: numberIn(body, 'max_output_tokens'),
    temperature: numberIn(body, 'temperature'),
    topP: numberIn(body, 'top_p'),
    topLogprobs: tellsLogprobs ? topLogprobs : null,
    logprobs: tellsLogprobs ? true : null,
    format: text === null ? null : readFormat(fieldsIn(text, 'format', 'text.')),
    verbosity: text === null ? null : textIn(text, 'verbosity', 'text.'),
    reasoning: readReasoning(fieldsIn(body, 'reasoning')),
    ...readIdentity(body),
    stream: flagIn(body, 'stream') ?? false,
    streamUsage: true,
    bag: { 'openai-responses': unread(body, known) },
    unplaced: withObfuscation([...unplacedIn(body, fieldsRead), ...foreignIncludes(include)], body),
    echo: Object.fromEntries(echoed.map((name) => [name, body[name]])),
  }
}

const readIdentity = (body: Fields) => ({
  user: textIn(body, 'safety_identifier') ?? textIn(body, 'user'),
  metadata: fieldsIn(body, 'metadata'),
  store: flagIn(body, 'store'),
  tier: textIn(body, 'service_tier'),
})

function readFormat(format: Fields | null): OutputFormat | null {
  if (format === null || format['type'] === 'text') return null
  if (format['type'] === 'json_object') return { kind: 'json' }
  if (format['type'] !== 'json_schema') throw unreadable('text.format.type', 'text, json_object or json_schema')
  const at = 'text.format.'
  return {
    kind: 'schema',
    schema: fieldsIn(format, 'schema', at) ?? {},
    name: textIn(format, 'name', at),
    description: textIn(format, 'description', at),
    strict: flagIn(format, 'strict', at),
  }
}

function readReasoning(reasoning: Fields | null): Reasoning | null {
  if (reasoning === null) return null
  const effort = textIn(reasoning, 'effort', 'reasoning.')
  if (effort !== null && !isEffort(effort)) throw unreadable('reasoning.effort', 'none, minimal, low, medium, high, xhigh or max')
  const summary = textIn(reasoning, 'summary', 'reasoning.')
  return effort === null && summary === null ? null : { effort, budget: null, enabled: null, show: summary === null ? null : true }
}

/** Reads the tools of a request, and those that stand among the items of its input. The later one of two with one name counts. */
function readAllTools(body: Fields): readonly Tool[] {
  const input: readonly unknown[] = Array.isArray(body['input']) ? body['input'] : []
  const own = readList(body, '')
  const more = input.flatMap((item, index) => (isFields(item) && item['type'] === toolsType ? readList(item, `input[${index}].`) : []))
  if (more.length === 0) return own
  const named = new Map([...own, ...more].map((tool) => [tool.kind === 'vendor' ? tool.at : tool.name, tool]))
  return [...named.values()]
}

const readList = (holder: Fields, place: string): readonly Tool[] =>
  listIn(holder, 'tools', place).flatMap((tool, index) => readTools(fieldsAt(tool, `${place}tools[${index}]`), `${place}tools[${index}]`))

/** The name of a group stands before that of each of its tools. */
const longestNamespace = 256

/** Reads a tool, or the tools of a group. */
function readTools(tool: Fields, at: string): readonly Tool[] {
  if (tool['type'] !== 'namespace') return [readTool(tool, at, null)]
  const namespace = neededText(tool, 'name', `${at}.`)
  if (namespace.length > longestNamespace) throw unreadable(`${at}.name`, `no longer than ${longestNamespace} characters`)
  return listIn(tool, 'tools', `${at}.`).map((one, index) =>
    readTool(fieldsAt(one, `${at}.tools[${index}]`), `${at}.tools[${index}]`, namespace),
  )
}

function readTool(tool: Fields, at: string, namespace: string | null): Tool {
  const type = neededText(tool, 'type', `${at}.`)
  if (type === 'custom') {
    const format = fieldsIn(tool, 'format', `${at}.`)
    const grammar = format === null || format['type'] === 'text' ? null : format
    return {
      kind: 'custom',
      name: nameWithin(namespace, neededText(tool, 'name', `${at}.`)),
      ...(namespace !== null && { namespace }),
      description: textIn(tool, 'description', `${at}.`),
      format: grammar,
      at,
    }
  }
  if (type !== 'function') return { kind: 'vendor', dialect: 'openai-responses', type, raw: tool, at }
  return {
    kind: 'function',
    name: nameWithin(namespace, neededText(tool, 'name', `${at}.`)),
    ...(namespace !== null && { namespace }),
    description: textIn(tool, 'description', `${at}.`),
    parameters: fieldsIn(tool, 'parameters', `${at}.`),
    strict: flagIn(tool, 'strict', `${at}.`),
    cache: null,
    at,
    bag: null,
  }
}

const modes: Readonly<Record<string, ToolChoice['mode']>> = { auto: 'auto', none: 'none', required: 'required' }

function readChoice(choice: unknown): ToolChoice | null {
  if (choice === null || choice === undefined) return null
  const mode = typeof choice === 'string' && Object.hasOwn(modes, choice) ? modes[choice] : undefined
  if (mode !== undefined) return { mode, names: null }
  if (!isFields(choice)) throw unreadable('tool_choice', 'auto, none, required, or an object')
  if (choice['type'] !== 'allowed_tools') return { mode: 'required', names: [neededText(choice, 'name', 'tool_choice.')] }
  const tools = listIn(choice, 'tools', 'tool_choice.')
  const named = tools.map((tool, index) =>
    neededText(fieldsAt(tool, `tool_choice.tools[${index}]`), 'name', `tool_choice.tools[${index}].`),
  )
  return { mode: choice['mode'] === 'required' ? 'required' : 'auto', names: named }
}
