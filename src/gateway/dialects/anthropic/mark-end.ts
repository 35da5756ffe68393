import { type Fields, isFields } from '../../../lib/json/fields.ts'

const mostMarks = 4

/** Blocks that cannot be marked. */
const unmarkable: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking'])

/**
 * Returns the messages of a request with a mark at their end, which is where Anthropic itself puts the mark of a whole request, and clouds do
 * not. Null: it cannot stand there.
 */
export function withMarkAtEnd(body: Fields, mark: unknown): readonly unknown[] | null {
  const { system, tools, messages } = body
  if (!Array.isArray(messages) || marksIn([system, tools, messages]) >= mostMarks) return null
  const last: unknown = messages.at(-1)
  const content = isFields(last) ? contentOf(last) : []
  const block = content.at(-1)
  if (!isFields(last) || !isFields(block) || unmarkable.has(block['type']) || block['text'] === '') return null
  const marked = 'cache_control' in block ? block : { ...block, cache_control: mark }
  return [...messages.slice(0, -1), { ...last, content: [...content.slice(0, -1), marked] }]
}

function contentOf({ content }: Fields): readonly unknown[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content : []
}

/** Returns how many blocks are marked, those within messages and results of tools too. */
function marksIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + marksIn(one), 0)
  if (!isFields(value)) return 0
  return (isFields(value['cache_control']) ? 1 : 0) + marksIn(value['content'])
}
