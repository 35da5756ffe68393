import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { Loss } from '../neutral/loss.ts'

/** The betas that a caller names, and those that always go on. */
interface NamedBetas {
  readonly named: readonly string[]
  readonly insisted: readonly string[]
  readonly loss: Loss
}

/** Returns a request in which the form of an answer stands where all hosts take it, and not where its beta had it. */
export function withFormatInPlace(body: Fields): Fields {
  if (!Object.hasOwn(body, 'output_format')) return body
  const { output_format: format, output_config: output, ...rest } = body
  if (!isFields(format)) return output === undefined ? rest : { ...rest, output_config: output }
  return { ...rest, output_config: { format, ...(isFields(output) && output) } }
}

const midSystem = /^mid-conversation-system-\d/

/**
 * Returns a request whose instructions stand at its beginning alone, for hosts without the beta that lets them stand among the messages. A caller that
 * does not name the beta asks a model that takes them there by itself.
 */
export function withSystemFirst(body: Fields, { named, insisted, loss }: NamedBetas): Fields {
  const { messages } = body
  if (!Array.isArray(messages) || !named.some((name) => midSystem.test(name)) || insisted.some((name) => midSystem.test(name))) return body
  const given: readonly unknown[] = messages
  const later = given.filter((message) => isSystem(message))
  if (later.length === 0) return body
  for (const [index, message] of given.entries()) if (isSystem(message)) loss.dropAt(`messages[${index}]`, 'was moved to the beginning')
  const blocks = [...blocksOf(body['system']), ...later.flatMap((message) => blocksOf(message['content']))]
  return { ...body, system: blocks, messages: joined(given.filter((message) => !isSystem(message))) }
}

const isSystem = (message: unknown): message is Fields => isFields(message) && message['role'] === 'system'

const blocksOf = (content: unknown): readonly unknown[] =>
  Array.isArray(content) ? content : typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : []

/** Returns messages of which no two neighbours have one role. */
function joined(messages: readonly unknown[]): readonly unknown[] {
  const all: unknown[] = []
  for (const message of messages) {
    const last = all.at(-1)
    if (isFields(last) && isFields(message) && last['role'] === message['role'])
      all[all.length - 1] = { ...last, content: [...blocksOf(last['content']), ...blocksOf(message['content'])] }
    else all.push(message)
  }
  return all
}
