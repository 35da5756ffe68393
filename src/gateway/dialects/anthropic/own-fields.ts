import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { Loss } from '../neutral/loss.ts'
import { isForeignSignature } from '../neutral/signature.ts'

/**
 * Returns a request without reasoning that another provider signed, because Claude accepts only its own. Switches `thinking` off where the present
 * turn with tool calls then begins without reasoning, because Claude would refuse the request.
 */
export function withoutForeignReasoning(body: Fields, loss: Loss): Fields {
  const { messages } = body
  if (!Array.isArray(messages)) return body
  const given: readonly unknown[] = messages
  const own = given.map((message, at) => (isFields(message) ? withoutForeignBlocks(message, `messages[${at}]`, loss) : message))
  if (own.every((message, at) => message === given[at])) return body
  const kept = own.filter((message, at) => message === given[at] || !isEmpty(message))
  const { thinking, ...rest } = body
  if (!isFields(thinking) || thinking['type'] !== 'enabled' || !lacksThinking(kept)) return { ...body, messages: kept }
  loss.dropAt('thinking', 'cannot go on, since the last turn began without reasoning of this provider')
  return { ...rest, messages: kept }
}

function withoutForeignBlocks(message: Fields, at: string, loss: Loss): Fields {
  const { content } = message
  if (!Array.isArray(content)) return message
  const blocks: readonly unknown[] = content
  const own = blocks.filter((block, index) => {
    if (!isForeign(block)) return true
    loss.dropAt(`${at}.content[${index}]`, 'is reasoning of another provider')
    return false
  })
  return own.length === blocks.length ? message : { ...message, content: own }
}

const isThought = (block: unknown): block is Fields =>
  isFields(block) && (block['type'] === 'thinking' || block['type'] === 'redacted_thinking')

const isForeign = (block: unknown): boolean =>
  isThought(block) && isForeignSignature(block['type'] === 'thinking' ? block['signature'] : block['data'], 'anthropic')

const contentOf = (message: unknown): unknown => (isFields(message) ? message['content'] : null)

const isEmpty = (message: unknown): boolean => {
  const content = contentOf(message)
  return Array.isArray(content) && content.length === 0
}

const isResult = (block: unknown): boolean => isFields(block) && block['type'] === 'tool_result'

const isOf = (message: unknown, role: string): boolean => isFields(message) && message['role'] === role

function asks(message: unknown): boolean {
  const content = contentOf(message)
  return isOf(message, 'user') && !(Array.isArray(content) && content.some(isResult))
}

/** Returns true if the first answer behind the last words of the user begins without reasoning. */
function lacksThinking(messages: readonly unknown[]): boolean {
  const going = messages.slice(messages.findLastIndex(asks) + 1).find((message) => isOf(message, 'assistant'))
  if (going === undefined) return false
  const content = contentOf(going)
  return !(Array.isArray(content) && isThought(content[0]))
}
