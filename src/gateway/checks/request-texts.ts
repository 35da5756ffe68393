import type { JsonPath } from '../../lib/json-path.ts'
import type { TextPart } from './check.ts'
import { type Fields, isFields } from '../../lib/fields.ts'
import { contentTexts, everyText, items, roleOf, textAt } from './walk.ts'

type Reader = (value: unknown, path: JsonPath) => readonly TextPart[]

const words =
  (role: string): Reader =>
  (value, path) =>
    typeof value === 'string'
      ? textAt(value, path, role)
      : items(value, path).flatMap(([item, at]) => (typeof item === 'string' ? textAt(item, at, role) : contentTexts(item, at, role)))

const messages: Reader = (value, path) =>
  items(value, path).flatMap(([message, at]) => {
    if (typeof message === 'string') return textAt(message, at, 'user')
    return isFields(message) ? messageTexts(message, at) : []
  })

function messageTexts(message: Fields, path: JsonPath): readonly TextPart[] {
  const role = roleOf(message, String(message['type']).endsWith('_output') ? 'tool' : 'user')
  const held = message['content'] === undefined ? 'parts' : 'content'
  const own = ['text', 'message', 'output', 'arguments'].flatMap((name) => textAt(message[name], [...path, name], role))
  return contentTexts(message[held], [...path, held], role).concat(own, toolCalls(message, path))
}

/** What an assistant told tools before: it may carry what the conversation must not. */
const toolCalls = (message: Fields, path: JsonPath): TextPart[] =>
  items(message['tool_calls'], [...path, 'tool_calls']).flatMap(([call, at]) =>
    isFields(call) && isFields(call['function'])
      ? textAt(call['function']['arguments'], [...at, 'function', 'arguments'], 'assistant')
      : [],
  )

const instruction: Reader = (value, path) => contentTexts(value, path, 'system')

/** Where the bodies of the APIs hold what is said, in the order in which it is read. */
const places: Readonly<Record<string, Reader>> = {
  system: instruction,
  instructions: instruction,
  systemInstruction: instruction,
  system_instruction: instruction,
  preamble: words('system'),
  chat_history: messages,
  messages,
  contents: messages,
  prompt: words('user'),
  suffix: words('user'),
  message: words('user'),
  input: (value, path) => (typeof value === 'string' ? textAt(value, path, 'user') : messages(value, path)),
  inputs: words('user'),
  inputText: words('user'),
  texts: words('user'),
  query: words('user'),
  documents: words('user'),
}

/** Bodies that hold a conversation in one of these are understood; of any other that goes to an unknown endpoint all may be said. */
const conversations = ['messages', 'contents', 'chat_history']

/**
 * What is said in a request, each piece with its path. To an endpoint without a name of ours every text of a body counts, unless it
 * has the shape of a conversation: a guardrail is not passed by on another path.
 */
export function requestTexts(json: unknown, operation: string): readonly TextPart[] {
  const isProxy = operation === 'proxy'
  if (!isFields(json)) return isProxy ? everyText(json, [], 'user') : []
  if (isProxy && !conversations.some((name) => Array.isArray(json[name]))) return everyText(withoutModel(json), [], 'user')
  return Object.entries(places).flatMap(([name, read]) => (Object.hasOwn(json, name) ? read(json[name], [name]) : []))
}

const withoutModel = (json: Fields): Fields => Object.fromEntries(Object.entries(json).filter(([name]) => name !== 'model'))
