import { z } from 'zod'
import { type Fields, isFields } from '../../../lib/fields.ts'
import { check, type BodyEdit } from '../check.ts'

/** What is said to a model; the inputs of other operations, such as embeddings, stay as they are. */
const conversations = new Set(['chatComplete', 'complete', 'messages', 'createModelResponse'])

/** A list of a million prompts is not made ten thousand times as long. */
const maxAdded = 4 * 1024 * 1024

interface Wanted {
  readonly prefix: string
  readonly applyToRole: 'user' | 'system' | 'assistant'
  readonly addToExisting: boolean
  readonly onlyIfEmpty: boolean
}

/** Puts words before what is said. */
export const addPrefix = check({
  id: 'default.addPrefix',
  title: 'Add prefix',
  about: 'Puts a text before the first message of a role, or before the prompt. It never fails.',
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
    applyToRole: z.enum(['user', 'system', 'assistant']).default('user').meta({ description: 'Whose message it goes before.' }),
    addToExisting: z
      .boolean()
      .default(true)
      .meta({ description: 'Whether it becomes part of that message; else it is a message of its own.' }),
    onlyIfEmpty: z.boolean().default(false).meta({ description: 'Whether it is added only when there is no message of the role.' }),
  },
  ready: (wanted) => ({
    judgesPrefix: false,
    run({ request: { json, operation } }) {
      const edits = isFields(json) && conversations.has(operation) ? editsOf(json, wanted) : []
      return { passed: true, data: { explanation: edits.length > 0 ? 'The prefix was added.' : 'There is nothing to add it to.' }, edits }
    },
  }),
})

function editsOf(json: Fields, wanted: Wanted): readonly BodyEdit[] {
  const { messages, prompt, input } = json
  if (Array.isArray(messages)) return messageEdits(json, messages, wanted)
  if (typeof prompt === 'string') return [{ path: ['prompt'], value: wanted.prefix + prompt }]
  if (Array.isArray(prompt) && prompt.length * wanted.prefix.length > maxAdded)
    throw new Error(`There are so many prompts that the prefixes alone would be longer than ${maxAdded} characters.`)
  if (Array.isArray(prompt))
    return prompt.flatMap((text: unknown, at): BodyEdit[] =>
      typeof text === 'string' ? [{ path: ['prompt', at], value: wanted.prefix + text }] : [],
    )
  return typeof input === 'string' && wanted.applyToRole === 'user' ? [{ path: ['input'], value: wanted.prefix + input }] : []
}

function messageEdits(
  json: Fields,
  messages: readonly unknown[],
  { prefix, applyToRole: role, addToExisting, onlyIfEmpty }: Wanted,
): readonly BodyEdit[] {
  // The Anthropic API has the system prompt beside the messages.
  if (role === 'system' && Object.hasOwn(json, 'system') && typeof json['system'] === 'string')
    return onlyIfEmpty ? [] : [{ path: ['system'], value: prefix + json['system'] }]
  const at = messages.findIndex((message) => isFields(message) && message['role'] === role)
  const own = { role, content: prefix }
  if (at === -1) return [{ path: ['messages'], value: role === 'system' ? [own, ...messages] : [...messages, own] }]
  if (onlyIfEmpty) return []
  if (!addToExisting) return [{ path: ['messages'], value: messages.toSpliced(at, 0, own) }]
  return prefixed(messages[at], at, prefix)
}

function prefixed(message: unknown, at: number, prefix: string): readonly BodyEdit[] {
  const content = isFields(message) ? message['content'] : undefined
  if (typeof content === 'string') return [{ path: ['messages', at, 'content'], value: prefix + content }]
  if (!Array.isArray(content)) return []
  const first = content.findIndex((item) => isFields(item) && typeof item['text'] === 'string')
  const text: unknown = first === -1 ? undefined : content[first]
  return isFields(text) ? [{ path: ['messages', at, 'content', first, 'text'], value: `${prefix}${String(text['text'])}` }] : []
}
