import type { Fields } from '../../../lib/json/fields.ts'
import { base64Media, mediaOfUrl } from '../media.ts'
import type { MediaSource, Part } from '../neutral/parts.ts'
import { cacheMarkIn } from '../openai-chat/parts-decode.ts'
import { textPart } from '../neutral/parts.ts'
import type { Turn } from '../neutral/request.ts'
import { Turns } from '../neutral/turns.ts'
import { fieldsAt, fieldsIn, neededText, textIn, unreadable } from '../reading.ts'
import { argumentsText } from '../tool-calls.ts'
import { nameWithin } from './namespaces.ts'
import { openReasoning } from './reasoning.ts'

/** An item by which a client offers more tools in the midst of a conversation. */
export const toolsType = 'additional_tools'

interface Conversation {
  readonly system: readonly Part[]
  readonly turns: readonly Turn[]
}

/** Reads the input: a text, or items, of which those of the model that follow each other are one turn. */
export function readItems(input: unknown): Conversation {
  const system: Part[] = []
  const turns = new Turns()
  const names = new Map<string, string>()
  if (typeof input === 'string') turns.add('user', [textPart(input, 'input')], 'input')
  else if (!Array.isArray(input)) throw unreadable('input', 'a string, or a list of items')
  else
    for (const [index, value] of input.entries()) {
      const at = `input[${index}]`
      const item = fieldsAt(value, at)
      if (item['type'] === toolsType) continue
      const role = roleOf(item, at)
      const parts = readItem(item, at, names)
      if (role === 'system' && turns.isEmpty) system.push(...parts)
      else turns.add(role, parts, at)
    }
  return { system, turns: turns.list }
}

const results: ReadonlySet<string> = new Set(['function_call_output', 'custom_tool_call_output'])

/**
 * Items that a model can be without: calls of the vendor's own tools, whose results are in the model's later text, and calls whose results are
 * refused themselves. Every other item holds facts of its own: the result of a client's own tool, a permission of its person, a sealed conversation,
 * a picture, or items of later clients.
 */
const repeats: ReadonlySet<string> = new Set([
  'apply_patch_call',
  'code_interpreter_call',
  'computer_call',
  'file_search_call',
  'local_shell_call',
  'mcp_approval_request',
  'mcp_call',
  'mcp_list_tools',
  'shell_call',
  'tool_search_call',
  'web_search_call',
])

const ofModel: ReadonlySet<string> = new Set([...repeats, 'custom_tool_call', 'function_call', 'reasoning'])

/** An item with facts of its own is read as a user's, whose content is refused and never left out. */
function roleOf(item: Fields, at: string): Turn['role'] {
  const type = typeOf(item)
  if (type !== 'message') return results.has(type) ? 'tool' : ofModel.has(type) ? 'assistant' : 'user'
  const role = neededText(item, 'role', `${at}.`)
  if (role === 'developer' || role === 'system') return 'system'
  if (role === 'user' || role === 'assistant') return role
  throw unreadable(`${at}.role`, 'user, assistant, system or developer')
}

/** An item without a type is a message. */
const typeOf = (item: Fields): string => (typeof item['type'] === 'string' ? item['type'] : 'message')

function readItem(item: Fields, at: string, names: Map<string, string>): readonly Part[] {
  const type = typeOf(item)
  const base = { at, cache: null, bag: null } as const
  if (type === 'message') return readContent(item['content'], `${at}.content`)
  if (type === 'function_call' || type === 'custom_tool_call') {
    const id = neededText(item, 'call_id', `${at}.`)
    const name = nameWithin(textIn(item, 'namespace', `${at}.`), neededText(item, 'name', `${at}.`))
    names.set(id, name)
    const custom = type === 'custom_tool_call'
    const given = custom ? (textIn(item, 'input', `${at}.`) ?? '') : argumentsText(item['arguments'])
    return [{ kind: 'tool-call', id, name, arguments: given, custom, signature: null, ...base }]
  }
  if (results.has(type)) {
    const callId = neededText(item, 'call_id', `${at}.`)
    const parts = readContent(item['output'], `${at}.output`)
    return [{ kind: 'tool-result', callId, name: names.get(callId) ?? null, parts, isError: false, ...base }]
  }
  if (type === 'reasoning') return [openReasoning(item, at)]
  if (type === 'item_reference') throw unreadable(`${at}.type`, 'an item itself: a reference names one that the provider keeps')
  return [{ kind: 'opaque', dialect: 'openai-responses', type, raw: item, ...base }]
}

function readContent(content: unknown, at: string): readonly Part[] {
  if (content === null || content === undefined || content === '') return []
  if (typeof content === 'string') return [textPart(content, at)]
  if (!Array.isArray(content)) throw unreadable(at, 'a string, or a list of parts')
  return content.flatMap((part, index) => readPart(fieldsAt(part, `${at}[${index}]`), `${at}[${index}]`))
}

const texts: ReadonlySet<string> = new Set(['input_text', 'output_text', 'text', 'summary_text'])

function readPart(part: Fields, at: string): readonly Part[] {
  const type = neededText(part, 'type', `${at}.`)
  const cache = cacheMarkIn(part)
  const base = { at, cache, bag: null } as const
  if (texts.has(type)) {
    const text = neededText(part, 'text', `${at}.`)
    return text === '' ? [] : [textPart(text, at, cache)]
  }
  if (type === 'refusal') return [{ kind: 'refusal', text: neededText(part, 'refusal', `${at}.`), ...base }]
  if (type === 'input_image') return [{ kind: 'image', source: imageSource(part, at), detail: textIn(part, 'detail', `${at}.`), ...base }]
  if (type === 'input_file') return [{ kind: 'file', source: fileSource(part, at), name: textIn(part, 'filename', `${at}.`), ...base }]
  if (type === 'input_audio') {
    const audio = fieldsIn(part, 'input_audio', `${at}.`) ?? {}
    const format = textIn(audio, 'format', `${at}.input_audio.`) ?? 'wav'
    const source = base64Media(format === 'mp3' ? 'audio/mpeg' : `audio/${format}`, neededText(audio, 'data', `${at}.input_audio.`))
    return [{ kind: 'audio', source, ...base }]
  }
  return [{ kind: 'opaque', dialect: 'openai-responses', type, raw: part, ...base }]
}

function imageSource(part: Fields, at: string): MediaSource {
  const id = textIn(part, 'file_id', `${at}.`)
  return id === null ? mediaOfUrl(neededText(part, 'image_url', `${at}.`)) : { kind: 'id', dialect: 'openai-chat', id }
}

function fileSource(part: Fields, at: string): MediaSource {
  const id = textIn(part, 'file_id', `${at}.`)
  if (id !== null) return { kind: 'id', dialect: 'openai-chat', id }
  const url = textIn(part, 'file_url', `${at}.`)
  if (url !== null) return mediaOfUrl(url)
  const data = neededText(part, 'file_data', `${at}.`)
  return data.startsWith('data:') ? mediaOfUrl(data) : base64Media('application/pdf', data)
}
