import type { Behaviour } from '../emulator/behaviour.ts'
import type { Received } from '../emulator/emulator.ts'
import { json, Refused, refusedBy } from './strict.ts'

type Fields = Readonly<Record<string, unknown>>

const fields = (text: string): ReadonlySet<string> => new Set(text.split(' '))

const request = fields(
  'model input instructions store stream max_output_tokens temperature top_p top_logprobs text reasoning include tools tool_choice parallel_tool_calls metadata safety_identifier service_tier prompt_cache_key prompt_cache_retention truncation previous_response_id',
)
const items: Readonly<Record<string, ReadonlySet<string>>> = {
  message: fields('type id status role content phase'),
  function_call: fields('type id status parsed_arguments namespace caller call_id name arguments'),
  function_call_output: fields('type id status call_id output'),
  custom_tool_call: fields('type id status call_id name input'),
  custom_tool_call_output: fields('type id status call_id output'),
  reasoning: fields('type id status summary content encrypted_content'),
}
const parts: Readonly<Record<string, ReadonlySet<string>>> = {
  output_text: fields('type text annotations logprobs'),
  refusal: fields('type refusal'),
  input_text: fields('type text'),
  input_image: fields('type image_url file_id detail'),
  input_file: fields('type filename file_data file_url file_id'),
}
const tools: Readonly<Record<string, ReadonlySet<string>>> = {
  function: fields('type name description parameters strict'),
  custom: fields('type name description format'),
}

const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? (value as Fields[]) : [])

function check(value: Fields, known: ReadonlySet<string> | undefined, at: string): void {
  if (known === undefined) throw new Refused(`Invalid value: '${String(value['type'])}' at '${at}'.`)
  for (const [name, field] of Object.entries(value)) {
    if (!known.has(name)) throw new Refused(`Unknown parameter: '${at}.${name}'.`)
    if (field === null && name !== 'parsed_arguments' && name !== 'encrypted_content')
      throw new Refused(`Invalid type for '${at}.${name}': got null.`)
  }
}

/**
 * Throws for requests that OpenAI's responses refuse: unknown fields, results without calls, calls without results, tools that do not set whether
 * they are strict.
 */
function checkRequest(body: Fields): void {
  check(body, request, 'request')
  const open = new Set<unknown>()
  for (const [index, item] of listOf(body['input']).entries()) {
    const at = `input[${index}]`
    check(item, items[typeof item['type'] === 'string' ? item['type'] : 'message'], at)
    if (String(item['encrypted_content']).startsWith('gh1:')) throw new Refused(`The encrypted content of ${at} could not be verified.`)
    for (const part of Array.isArray(item['content']) ? listOf(item['content']) : listOf(item['output']))
      check(part, parts[String(part['type'])], `${at}.content`)
    if (String(item['type']).endsWith('call')) open.add(item['call_id'])
    if (String(item['type']).endsWith('output') && !open.delete(item['call_id'])) throw new Refused(`No tool call found for ${at}.`)
  }
  if (open.size > 0) throw new Refused('No tool output found for function call.')
  for (const [index, tool] of listOf(body['tools']).entries()) {
    check(tool, tools[String(tool['type'])], `tools[${index}]`)
    if (tool['type'] === 'function' && typeof tool['strict'] !== 'boolean') throw new Refused(`tools[${index}].strict is missing.`)
  }
  if (Number(body['max_output_tokens'] ?? 16) < 16) throw new Refused("Invalid 'max_output_tokens': integer below minimum value.")
}

/** Why OpenAI refuses a request for a response, in its own words; null: it takes it. */
export const refusalOfResponses = (received: Received): string | null =>
  received.url.endsWith('/v1/responses')
    ? refusedBy(() => checkRequest(received.json))
    : 'This model is only supported in v1/responses and not in v1/chat/completions.'

/** Answers as OpenAI does a request for a response that it takes; refuses any other, and any other path. */
export function strictResponses(received: Received, answer: Behaviour): Behaviour {
  const message = refusalOfResponses(received)
  if (message === null) return answer
  return json({ error: { message: `strict: ${message}`, type: 'invalid_request_error', param: null, code: null } }, 400)
}
