import { z } from 'zod'
import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { JsonPath } from '../../../lib/json/json-path.ts'
import { check, type BodyEdit } from '../check.ts'
import { roleOf } from '../../dialects/texts/walk.ts'

/** The operations with a prompt for a model; the inputs of others, such as embeddings, stay as they are. */
const conversations = new Set(['chatComplete', 'complete', 'messages', 'createModelResponse'])

/** A list of a million prompts is not made ten thousand times as long. */
const maxAdded = 4 * 1024 * 1024

interface Prefix {
  readonly prefix: string
  readonly applyToRole: 'user' | 'system' | 'assistant'
  readonly addToExisting: boolean
  readonly onlyIfEmpty: boolean
}

/** Puts words before the prompt. */
export const addPrefix = check({
  id: 'default.addPrefix',
  title: 'Add prefix',
  about:
    'Puts a text before the first message of a role, or before the prompt; that of the system may stand in `system` or `instructions`. It never fails.',
  since: '1.3.1',
  phases: ['input'],
  changes: true,
  reads: 'request',
  fields: {
    prefix: z
      .string()
      .min(1)
      .max(20_000)
      .default('Please respond helpfully and accurately to the following: ')
      .meta({ description: 'The text.' }),
    applyToRole: z
      .enum(['user', 'system', 'assistant'])
      .default('user')
      .meta({ description: 'The role of the message that gets the prefix.' }),
    addToExisting: z
      .boolean()
      .default(true)
      .meta({ description: 'Whether it becomes part of that message; else it is a message of its own.' }),
    onlyIfEmpty: z.boolean().default(false).meta({ description: 'Whether it is added only when there is no message of the role.' }),
  },
  ready: (wanted) => ({
    judgesPrefix: false,
    run({ request: { json, operation } }) {
      const edits = isFields(json) && conversations.has(operation) ? editsOf(json, operation, wanted) : []
      return { passed: true, data: { explanation: edits.length > 0 ? 'The prefix was added.' : 'There is nothing to add it to.' }, edits }
    },
  }),
})

function editsOf(json: Fields, operation: string, wanted: Prefix): readonly BodyEdit[] {
  const { messages, prompt, input } = json
  const beside = wanted.applyToRole === 'system' ? besideMessages(json, operation) : null
  if (beside !== null) return besideEdits(beside, json[beside], wanted)
  if (Array.isArray(messages)) return messageEdits('messages', messages, wanted)
  if (typeof prompt === 'string') return [{ path: ['prompt'], value: wanted.prefix + prompt }]
  if (Array.isArray(prompt)) return promptEdits(prompt, wanted)
  if (Array.isArray(input)) return messageEdits('input', input, wanted)
  return typeof input === 'string' ? inputEdits(input, wanted) : []
}

function promptEdits(prompts: readonly unknown[], { prefix }: Prefix): readonly BodyEdit[] {
  if (prompts.length * prefix.length > maxAdded)
    throw new Error(`There are so many prompts that the prefixes alone would be longer than ${maxAdded} characters.`)
  return prompts.flatMap((text, at): BodyEdit[] => (typeof text === 'string' ? [{ path: ['prompt', at], value: prefix + text }] : []))
}

/** A text in place of a list is one message of the user. */
function inputEdits(input: string, { prefix, applyToRole: role, onlyIfEmpty }: Prefix): readonly BodyEdit[] {
  if (role === 'user') return onlyIfEmpty ? [] : [{ path: ['input'], value: prefix + input }]
  const said = { role: 'user', content: input }
  return [{ path: ['input'], value: [said, { role, content: prefix }] }]
}

/** The field that holds the system prompt: the messages and the responses APIs have it beside the messages. */
function besideMessages(json: Fields, operation: string): 'system' | 'instructions' | null {
  if (operation === 'createModelResponse') return isSaid(json['instructions']) || !holdsSystem(json['input']) ? 'instructions' : null
  if (isSaid(json['system'])) return 'system'
  return operation === 'messages' && !holdsSystem(json['messages']) ? 'system' : null
}

const isSaid = (value: unknown): boolean => (typeof value === 'string' || Array.isArray(value)) && value.length > 0

const holdsSystem = (list: unknown): boolean => Array.isArray(list) && list.some((message) => roleOf(message, '') === 'system')

function besideEdits(field: string, held: unknown, { prefix, addToExisting, onlyIfEmpty }: Prefix): readonly BodyEdit[] {
  if (!isSaid(held)) return [{ path: [field], value: prefix }]
  if (onlyIfEmpty) return []
  if (typeof held === 'string') return [{ path: [field], value: prefix + held }]
  const parts: readonly unknown[] = Array.isArray(held) ? held : []
  const own = { type: 'text', text: prefix }
  return addToExisting ? partEdits(parts, [field], own) : [{ path: [field], value: [own, ...parts] }]
}

function messageEdits(
  list: 'messages' | 'input',
  messages: readonly unknown[],
  { prefix, applyToRole: role, addToExisting, onlyIfEmpty }: Prefix,
): readonly BodyEdit[] {
  const at = messages.findIndex((message) => roleOf(message, '') === role)
  const own = { role, content: prefix }
  if (at === -1) return [{ path: [list], value: role === 'system' ? [own, ...messages] : [...messages, own] }]
  if (onlyIfEmpty) return []
  if (!addToExisting) return [{ path: [list], value: messages.toSpliced(at, 0, own) }]
  const message = messages[at]
  const content = isFields(message) ? message['content'] : undefined
  const path: JsonPath = [list, at, 'content']
  if (!Array.isArray(content)) return [{ path, value: typeof content === 'string' ? prefix + content : prefix }]
  return partEdits(content, path, {
    type: list === 'messages' ? 'text' : role === 'assistant' ? 'output_text' : 'input_text',
    text: prefix,
  })
}

/** The prefix before the first text among parts; without one it is a part of its own, behind the results of tools, which come first. */
function partEdits(parts: readonly unknown[], path: JsonPath, own: { readonly type: string; readonly text: string }): readonly BodyEdit[] {
  const first = parts.findIndex((part) => isFields(part) && typeof part['text'] === 'string')
  const text = parts[first]
  if (isFields(text)) return [{ path: [...path, first, 'text'], value: `${own.text}${String(text['text'])}` }]
  const results = parts.findLastIndex((part) => isFields(part) && part['type'] === 'tool_result')
  return [{ path, value: parts.toSpliced(results + 1, 0, own) }]
}
