import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { countOf, sumOf } from '../neutral/token-usage.ts'
import { saidFields, saidList, unreadable } from '../reading.ts'

/** So many prompts are completed by as many chats. */
const mostPrompts = 32

/** Returns the prompts of a request that has several of them, as texts; null: it has one, or none that is a text. Throws `invalid_request`. */
export function severalPrompts({ prompt }: Fields): readonly string[] | null {
  if (!Array.isArray(prompt) || prompt.length < 2) return null
  const prompts: readonly unknown[] = prompt
  if (typeof prompts[0] === 'number') return null
  if (prompts.length > mostPrompts)
    throw unreadable('prompt', `at most ${mostPrompts} texts for this provider, which has chats; it has ${prompts.length}`)
  return prompts.map((one, at) => {
    if (typeof one === 'string' && one !== '') return one
    throw unreadable(`prompt[${at}]`, 'a text that is not empty, for this provider: it has chats, which take no tokens')
  })
}

/** Returns the choices of one prompt's answer as those of the whole: all choices of a prompt stand before those of the next. */
export function choicesOf(answer: Fields, part: number, perPrompt: number): readonly Fields[] {
  return saidList(answer, 'choices').map((choice) =>
    Object.assign({}, choice, { index: part * perPrompt + (countOf(choice['index']) ?? 0) }),
  )
}

/** Returns the answers to all prompts as one. */
export function joinedCompletions(answers: readonly Fields[], perPrompt: number): Fields {
  const usage = summedUsage(answers.map((one) => saidFields(one, 'usage')))
  return {
    ...answers[0],
    choices: answers.flatMap((answer, part) => choicesOf(answer, part, perPrompt)),
    ...(usage !== null && { usage }),
  }
}

/** Adds up counts of tokens, and those within them; null when a part has none: the sum would be too small. */
export function summedUsage(parts: readonly (Fields | null)[]): Fields | null {
  if (!parts.every((one) => one !== null)) return null
  const sums: Record<string, unknown> = {}
  for (const name of new Set(parts.flatMap((one) => Object.keys(one)))) {
    const values = parts.map((one) => one[name])
    sums[name] = values.some(isFields)
      ? summedUsage(values.map((value) => (isFields(value) ? value : {})))
      : sumOf(...values.map((value) => countOf(value)))
  }
  return sums
}
