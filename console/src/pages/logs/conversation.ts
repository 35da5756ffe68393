/** A text of a conversation, and who wrote it. */
export interface Turn {
  readonly role: string
  readonly text: string
}

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Returns the texts of a request and its answer in the formats of chat, messages, responses and contents; empty for others. */
export function conversationOf(request: unknown, response: unknown): readonly Turn[] {
  return [...(isObject(request) ? askedIn(request) : []), ...(isObject(response) ? answeredIn(response) : [])].filter(
    ({ text }) => text !== '',
  )
}

function askedIn(body: Json): readonly Turn[] {
  const system = [body['system'], body['instructions'], body['systemInstruction']].flatMap((value) =>
    value === undefined ? [] : [{ role: 'system', text: textOf(value) }],
  )
  const messages = [...listOf(body['messages']), ...listOf(body['contents']), ...listOf(body['input'])].flatMap((message) =>
    isObject(message) ? [turnOf(message)] : [],
  )
  const plain = [body['prompt'], body['input']].flatMap((value) => (typeof value === 'string' ? [{ role: 'user', text: value }] : []))
  return [...system, ...messages, ...plain]
}

function answeredIn(body: Json): readonly Turn[] {
  const choices = listOf(body['choices']).flatMap((choice) =>
    isObject(choice) ? [turnOf(isObject(choice['message']) ? choice['message'] : { content: choice['text'] }, 'assistant')] : [],
  )
  const candidates = listOf(body['candidates']).flatMap((one) =>
    isObject(one) && isObject(one['content']) ? [turnOf(one['content'], 'assistant')] : [],
  )
  const output = listOf(body['output']).flatMap((item) => (isObject(item) ? [turnOf(item, 'assistant')] : []))
  const content = Array.isArray(body['content']) ? [turnOf(body, 'assistant')] : []
  return [...choices, ...candidates, ...output, ...content]
}

function turnOf(message: Json, otherwise = 'user'): Turn {
  const tools = listOf(message['tool_calls']).map((one) => `calls ${textOf(one)}`)
  const text = [message['reasoning_content'], message['refusal'], message['content'], message['parts'], message['summary']].map(textOf)
  const role = typeof message['role'] === 'string' ? message['role'] : typeof message['type'] === 'string' ? message['type'] : otherwise
  return { role, text: [...text, ...tools].filter(Boolean).join('\n') }
}

/** Returns the text of a part; pictures and files are named and not loaded. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(textOf).filter(Boolean).join('\n')
  if (!isObject(value)) return ''
  if (typeof value['text'] === 'string') return value['text']
  if (Array.isArray(value['parts'])) return textOf(value['parts'])
  if (isObject(value['function']) || value['type'] === 'tool_use' || value['type'] === 'tool_result' || value['type'] === 'function_call')
    return JSON.stringify(value, null, 2)
  return typeof value['type'] === 'string' ? `[${value['type']}]` : JSON.stringify(value)
}
