import type { z, ZodError } from 'zod'
import type { Behaviour } from '../emulator/behaviour.ts'
import type { Received } from '../emulator/emulator.ts'

type Fields = Readonly<Record<string, unknown>>

/** The fields of an object: which may be there, and which must. */
interface Shape {
  readonly may: readonly string[]
  readonly must: readonly string[]
}

const shape = (must: string, may: string): Shape => ({
  must: must.split(' ').filter(Boolean),
  may: `${must} ${may}`.split(' ').filter(Boolean),
})

const anthropic = {
  request: shape(
    'model max_tokens messages',
    'system tools tool_choice temperature top_p top_k stop_sequences stream thinking output_config metadata service_tier cache_control container context_management mcp_servers inference_geo',
  ),
  message: shape('role content', ''),
  blocks: {
    text: shape('type text', 'cache_control citations'),
    image: shape('type source', 'cache_control'),
    document: shape('type source', 'title context citations cache_control'),
    tool_use: shape('type id name input', 'cache_control caller'),
    tool_result: shape('type tool_use_id', 'content is_error cache_control'),
    thinking: shape('type thinking signature', ''),
    redacted_thinking: shape('type data', ''),
  } as Readonly<Record<string, Shape>>,
  tool: shape('name input_schema', 'description strict cache_control type'),
  search: shape('type name', 'allowed_domains blocked_domains max_uses user_location cache_control'),
}

const chat = {
  request: shape(
    'model messages',
    'max_tokens max_completion_tokens temperature top_p stop n seed frequency_penalty presence_penalty logit_bias logprobs top_logprobs user metadata store service_tier stream stream_options tools tool_choice parallel_tool_calls response_format reasoning_effort verbosity modalities',
  ),
  messages: {
    system: shape('role content', 'name'),
    developer: shape('role content', 'name'),
    user: shape('role content', 'name'),
    assistant: shape('role', 'content tool_calls refusal name audio annotations'),
    tool: shape('role content tool_call_id', ''),
  } as Readonly<Record<string, Shape>>,
  tool: shape('type function', ''),
}

const heldWords = /"(?:minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf|minLength|maxLength|maxItems|uniqueItems|oneOf|not)":/

/** Claude is held to closed objects, without bounds. */
function checkHeld(schema: unknown, at: string): void {
  const text = JSON.stringify(schema)
  const word = heldWords.exec(text)
  if (word !== null) throw new Refused(`${at}: For the type given, property ${word[0]} is not supported`)
  const objects = text.match(/"type":"object"/g)?.length ?? 0
  if (objects > (text.match(/"additionalProperties":false/g)?.length ?? 0))
    throw new Refused(`${at}: For 'object' type, 'additionalProperties' must be explicitly set to false`)
}

/** OpenAI's functions take an object that lists its fields. */
function checkParameters(schema: Fields, at: string): void {
  if (schema['type'] !== 'object') throw new Refused(`${at}: schema must be a JSON Schema of 'type: "object"'`)
  if (!('properties' in schema)) throw new Refused(`${at}: object schema missing properties`)
  for (const name of ['anyOf', 'oneOf', 'allOf', 'enum', 'not'])
    if (name in schema) throw new Refused(`${at}: schema must not have '${name}' at the top level`)
}

/** A real API's answer to a request that it does not take. */
export class Refused extends Error {}

/** The fields of a message that OpenAI itself answers as null, and takes back so. */
const nullable: ReadonlySet<string> = new Set(['content', 'refusal', 'audio'])

function check(value: unknown, { may, must }: Shape, at: string): void {
  if (typeof value !== 'object' || value === null) throw new Refused(`${at}: must be an object`)
  for (const name of must) if (!(name in value)) throw new Refused(`${at}.${name}: Field required`)
  for (const [name, field] of Object.entries(value)) {
    if (!may.includes(name)) throw new Refused(`${at}.${name}: Extra inputs are not permitted`)
    if (field === null && !(at.startsWith('messages') && nullable.has(name))) throw new Refused(`${at}.${name}: must not be null`)
  }
}

const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? (value as Fields[]) : [])

/** Throws for requests that Anthropic refuses: unknown and missing fields, an order of turns that it does not take, calls without their results. */
function checkAnthropic(body: Fields): void {
  check(body, anthropic.request, 'request')
  let before = ''
  let open = new Set<unknown>()
  for (const [index, message] of listOf(body['messages']).entries()) {
    const at = `messages.${index}`
    check(message, anthropic.message, at)
    if (index === 0 && message['role'] !== 'user') throw new Refused(`${at}: first message must use the "user" role`)
    if (message['role'] === before) throw new Refused(`${at}: roles must alternate`)
    before = String(message['role'])
    const blocks = typeof message['content'] === 'string' ? [{ type: 'text', text: message['content'] }] : listOf(message['content'])
    if (blocks.length === 0) throw new Refused(`${at}.content: must not be empty`)
    open = checkBlocks(blocks, at, open)
  }
  for (const [index, tool] of listOf(body['tools']).entries())
    check(tool, tool['type'] === 'web_search_20250305' ? anthropic.search : anthropic.tool, `tools.${index}`)
  for (const [index, tool] of listOf(body['tools']).entries())
    if (tool['strict'] === true) checkHeld(tool['input_schema'], `tools.${index}.input_schema`)
  const output = (body['output_config'] ?? {}) as Fields
  if ('format' in output) checkHeld((output['format'] as Fields)['schema'], 'output_config.format.schema')
  if (body['temperature'] !== undefined && Number(body['temperature']) > 1) throw new Refused('temperature: range: 0..1')
}

function checkBlocks(blocks: readonly Fields[], at: string, open: ReadonlySet<unknown>): Set<unknown> {
  const calls = new Set<unknown>()
  const answered = new Set<unknown>()
  for (const [index, block] of blocks.entries()) {
    const place = `${at}.content.${index}`
    const known = anthropic.blocks[String(block['type'])]
    if (known === undefined) throw new Refused(`${place}: unknown type ${String(block['type'])}`)
    check(block, known, place)
    if (block['type'] === 'text' && String(block['text']).trim() === '') throw new Refused(`${place}: text must not be blank`)
    checkSignature(block, place)
    if (block['type'] === 'tool_use') calls.add(block['id'])
    if (block['type'] !== 'tool_result') continue
    if (!open.has(block['tool_use_id'])) throw new Refused(`${place}: unexpected tool_use_id`)
    if (answered.size < index) throw new Refused(`${place}: results must come first`)
    answered.add(block['tool_use_id'])
  }
  for (const id of open) if (!answered.has(id)) throw new Refused(`${at}: tool_use ids without tool_result: ${String(id)}`)
  return calls
}

/** Claude accepts its own signatures; placeholders for those of others, or for none, are none of them. */
function checkSignature({ type, signature, data }: Fields, place: string): void {
  const known = type === 'thinking' ? signature : type === 'redacted_thinking' ? data : 'signed'
  if (known === '' || String(known).startsWith('gh1:')) throw new Refused(`${place}: Invalid \`signature\` in \`${String(type)}\` block`)
}

/** Throws for requests that OpenAI refuses. */
function checkChat(body: Fields): void {
  check(body, chat.request, 'request')
  let open = new Set<unknown>()
  for (const [index, message] of listOf(body['messages']).entries()) {
    const at = `messages.${index}`
    const known = chat.messages[String(message['role'])]
    if (known === undefined) throw new Refused(`${at}: unknown role`)
    check(message, known, at)
    if (message['role'] === 'tool') {
      if (typeof message['content'] !== 'string') throw new Refused(`${at}.content: must be a string`)
      if (!open.delete(message['tool_call_id'])) throw new Refused(`${at}: answers no call`)
      continue
    }
    if (open.size > 0) throw new Refused(`${at}: calls without answers`)
    open = new Set(listOf(message['tool_calls']).map(({ id }) => id))
  }
  for (const [index, tool] of listOf(body['tools']).entries()) {
    check(tool, chat.tool, `tools.${index}`)
    const { parameters } = (tool['function'] ?? {}) as Fields
    if (parameters !== undefined) checkParameters(parameters as Fields, `tools.${index}.function.parameters`)
  }
}

/** Why Anthropic or OpenAI refuses a request, in its own words; null: it takes it. */
export const refusalOf = (api: 'anthropic' | 'openai', body: Fields): string | null =>
  refusedBy(() => (api === 'anthropic' ? checkAnthropic(body) : checkChat(body)))

/** A check's objection to a request; null: none. */
export function refusedBy(runCheck: () => void): string | null {
  try {
    runCheck()
    return null
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return error.message
  }
}

/** Answers as Anthropic or OpenAI does a request that it takes; refuses any other with its own words. */
export function strictly(api: 'anthropic' | 'openai', received: Received, answer: Behaviour): Behaviour {
  const message = refusalOf(api, received.json)
  if (message === null) return answer
  const body = { error: { type: 'invalid_request_error', message: `strict: ${message}`, param: null, code: null } }
  return json(api === 'anthropic' ? { type: 'error', ...body } : body, 400)
}

/** A stream of server-sent events with these names and data. */
export const sse = (events: readonly (readonly [name: string | null, data: object | string])[]): Behaviour => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: events
    .map(([name, data]) => `${name === null ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
    .join(''),
})

export const json = (body: object, status = 200, headers: Readonly<Record<string, string>> = {}): Behaviour => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

/** The first thing that a schema has against a request. */
export function firstFault(error: ZodError): string {
  const [issue] = error.issues
  return issue === undefined ? 'refused' : deepest(issue.path, issue)
}

/** The alternative of a union that came the furthest. */
function deepest(path: readonly PropertyKey[], issue: z.core.$ZodIssue): string {
  const inner = issue.code === 'invalid_union' ? issue.errors.flat().toSorted((a, b) => b.path.length - a.path.length)[0] : undefined
  return inner === undefined ? `${path.map(String).join('.')}: ${issue.message}` : deepest([...path, ...inner.path], inner)
}
