import { isFields } from '../../lib/json/fields.ts'
import type { DialectId } from './dialect.ts'
import type { TextPart } from './neutral/texts.ts'
import { allTexts, textsOf } from './registry.ts'
import { contentTexts, everyText, inItems, textAt } from './texts/walk.ts'

/** The fields of answers that hold the model's texts, in any dialect: a provider may answer in another than its own. */
const places = [...new Set(allTexts.flatMap(({ answer }) => answer))]

/** The call that was answered. */
export interface AnswerKind {
  /** Null: not known. */
  readonly dialect: DialectId | null
  readonly method: string
}

/**
 * Returns the texts of an answer, each with its path. For unknown endpoints every string is text unless a field is known to be data; if no
 * field is known, every string is text. Answers to a GET are lists of files and the like.
 */
export function answerTexts(json: unknown, { dialect, method }: AnswerKind): readonly TextPart[] {
  const unknown = dialect === null && method === 'POST'
  const speaks = textsOf(dialect)?.speaks === true && method === 'POST'
  if (!isFields(json)) return unknown || speaks ? everyText(json, [], 'assistant') : []
  const known = places.filter((name) => Object.hasOwn(json, name))
  if (unknown) return known.length === 0 ? everyText(json, [], 'assistant') : contentTexts(json, [], 'assistant')
  if (known.length === 0 && speaks) return contentTexts(json, [], 'assistant')
  return known.flatMap((name) => (name === 'data' ? listTexts(json[name]) : contentTexts(json[name], [name], 'assistant')))
}

/** Returns the prompts as they were really drawn, of lists of images; lists of files and models hold none. */
const listTexts = (value: unknown): TextPart[] =>
  inItems(value, ['data'], (item, at) => (isFields(item) ? textAt(item['revised_prompt'], [...at, 'revised_prompt'], 'assistant') : []))
