import type { JsonPath } from '../../lib/json/json-path.ts'
import type { TextPart } from './check.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { isToken, kindOf } from './field-kinds.ts'
import { contentTexts, everyText, fieldTexts, items, roleOf } from './walk.ts'

type Reader = (value: unknown, path: JsonPath) => readonly TextPart[]

const words =
  (role: string): Reader =>
  (value, path) =>
    contentTexts(value, path, role)

const messages: Reader = (value, path) =>
  Array.isArray(value)
    ? items(value, path).flatMap(([message, at]) => contentTexts(message, at, messageRole(message)))
    : contentTexts(value, path, messageRole(value))

const messageRole = (message: unknown): string =>
  roleOf(message, isFields(message) && String(message['type']).endsWith('_output') ? 'tool' : 'user')

/** Where the bodies of the APIs hold what is said, in the order in which it is read. */
const places: Readonly<Record<string, Reader>> = {
  system: words('system'),
  instructions: words('system'),
  systemInstruction: words('system'),
  system_instruction: words('system'),
  additional_instructions: words('system'),
  preamble: words('system'),
  chat_history: messages,
  messages,
  contents: messages,
  prompt: words('user'),
  suffix: words('user'),
  message: words('user'),
  input: messages,
  inputs: words('user'),
  inputText: words('user'),
  texts: words('user'),
  query: words('user'),
  documents: words('user'),
}

const readers = Object.entries(places)

/** Whose the other fields are: what is told of tools and of the form of the answer is told by who made the application. */
const roles: ReadonlyMap<string, string> = new Map([
  ...['tools', 'functions', 'toolConfig', 'tool_config', 'response_format', 'generationConfig', 'text'].map(
    (name) => [name, 'system'] as const,
  ),
  ['prediction', 'assistant'],
])

/** Labels, and words at which a model stops: in the APIs that we know nobody hears them. */
const unheard: ReadonlySet<string> = new Set(['metadata', 'stop', 'stop_sequences'])

/** Bodies that hold a conversation in one of these are understood; of any other that goes to an unknown endpoint all may be said. */
const conversations = ['messages', 'contents', 'chat_history']

/**
 * What is said in a request, each piece with its path. To an endpoint without a name of ours every text of a body counts, unless it
 * has the shape of a conversation: a guardrail is not passed by on another path.
 */
export function requestTexts(json: unknown, operation: string): readonly TextPart[] {
  if (!isFields(json)) return everyText(json, [], 'user')
  const isProxy = operation === 'proxy'
  if (isProxy && !conversations.some((name) => Array.isArray(json[name]))) return everyText(withoutModel(json), [], 'user')
  return otherTexts(json, isProxy).concat(readers.flatMap(([name, read]) => (Object.hasOwn(json, name) ? read(json[name], [name]) : [])))
}

/** What is said beside the conversation; to an unknown endpoint anything may be. */
function otherTexts(json: Fields, isProxy: boolean): TextPart[] {
  return Object.keys(json).flatMap((name) => {
    const value = json[name]
    if ((typeof value !== 'string' && typeof value !== 'object') || value === null || name === 'model') return []
    if (Object.hasOwn(places, name) || (!isProxy && unheard.has(name))) return []
    return fieldTexts(json, name, (typeof value === 'object' ? roles.get(name) : undefined) ?? 'user')
  })
}

const withoutModel = (json: Fields): Fields => Object.fromEntries(Object.entries(json).filter(([name]) => name !== 'model'))

/** Where in a path of texts those of the query and of the path stand: they can be read, and not be changed. */
export const addressed = '?'

/**
 * What is said in the path and the query of a request. Names, numbers and ids are not: of a query that is read which stands under a name
 * that holds texts in bodies too, and of both what holds more than a name could.
 */
export function addressTexts(path: string): readonly TextPart[] {
  const { pathname, searchParams } = new URL(path, 'http://host')
  const said = [...searchParams].filter(([name, value]) => value !== '' && (!isToken(value) || saysText(name)))
  const segments = pathname.split('/').map(decoded)
  return [
    ...segments.filter((text) => !isToken(text)).map((text): TextPart => ({ path: [addressed, 'path'], role: 'user', text })),
    ...said.map(([name, text]): TextPart => ({ path: [addressed, name], role: 'user', text })),
  ]
}

/** The names under which searches take their question. */
const questions: ReadonlySet<string> = new Set(['q', 'question', 'search', 'keyword', 'keywords', 'term', 'body'])

const saysText = (name: string): boolean =>
  questions.has(name) || Object.hasOwn(places, name) || ['said', 'main', 'free'].includes(kindOf(name) ?? '')

/** A segment that cannot be decoded is read as it stands. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
