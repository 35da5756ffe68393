import type { TextPart } from './check.ts'
import { isFields } from '../../lib/json/fields.ts'
import { contentTexts, everyText, items, textAt } from './walk.ts'

/** Where the answers of the APIs hold what a model says. */
const places = ['choices', 'content', 'output', 'candidates', 'message', 'text', 'segments', 'data'] as const

/** Whether an answer without a known shape may hold what a model says: that of a call by an unknown name, not a list of files. */
export interface AnswerKind {
  readonly operation: string
  readonly method: string
}

/** Whose answers hold nothing but what a model says and figures about it. */
const speaking: ReadonlySet<string> = new Set(['chatComplete', 'promptComplete', 'complete', 'messages', 'createModelResponse'])

/**
 * What is said in an answer, each piece with its path. Of an answer to a call by an unknown name all is said but what is known to be
 * data, and of one without any known field all of it.
 */
export function responseTexts(json: unknown, { operation, method }: AnswerKind): readonly TextPart[] {
  const unknown = operation === 'proxy' && method === 'POST'
  if (!isFields(json)) return unknown || speaking.has(operation) ? everyText(json, [], 'assistant') : []
  const known = places.filter((name) => Object.hasOwn(json, name))
  if (unknown) return known.length === 0 ? everyText(json, [], 'assistant') : contentTexts(json, [], 'assistant')
  if (known.length === 0 && speaking.has(operation)) return contentTexts(json, [], 'assistant')
  return known.flatMap((name) => (name === 'data' ? listTexts(json[name]) : contentTexts(json[name], [name], 'assistant')))
}

/** Of lists of files, models and images: the prompt as it was really drawn. */
const listTexts = (value: unknown): TextPart[] =>
  items(value, ['data']).flatMap(([item, at]) =>
    isFields(item) ? textAt(item['revised_prompt'], [...at, 'revised_prompt'], 'assistant') : [],
  )
