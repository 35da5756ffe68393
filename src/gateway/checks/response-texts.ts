import type { JsonPath } from '../../lib/json-path.ts'
import type { TextPart } from './check.ts'
import { type Fields, isFields } from '../../lib/fields.ts'
import { contentTexts, everyText, items, textAt } from './walk.ts'

type Reader = (value: unknown, path: JsonPath) => readonly TextPart[]

const said: Reader = (value, path) => contentTexts(value, path, 'assistant')

/** `choices` of chats and completions. */
const choices: Reader = (value, path) =>
  items(value, path).flatMap(([choice, at]) => {
    if (!isFields(choice)) return []
    const message = choice['message']
    const whole = isFields(message) ? messageTexts(message, [...at, 'message']) : []
    return textAt(choice['text'], [...at, 'text'], 'assistant').concat(whole)
  })

/** A whole message of an assistant: what it says, thinks, refuses and tells tools. */
function messageTexts(message: Fields, path: JsonPath): readonly TextPart[] {
  return [
    ...['reasoning_content', 'refusal'].flatMap((name) => textAt(message[name], [...path, name], 'assistant')),
    ...said(message['content'], [...path, 'content']),
    ...items(message['tool_calls'], [...path, 'tool_calls']).flatMap(([call, at]) =>
      isFields(call) && isFields(call['function'])
        ? textAt(call['function']['arguments'], [...at, 'function', 'arguments'], 'assistant')
        : [],
    ),
  ]
}

/** Where the answers of the APIs hold what a model says. */
const places: Readonly<Record<string, Reader>> = {
  choices,
  content: said,
  output: (value, path) =>
    isFields(value) && isFields(value['message']) ? messageTexts(value['message'], [...path, 'message']) : said(value, path),
  candidates: (value, path) =>
    items(value, path).flatMap(([candidate, at]) => (isFields(candidate) ? said(candidate['content'], [...at, 'content']) : [])),
  message: (value, path) => (isFields(value) ? messageTexts(value, path) : textAt(value, path, 'assistant')),
  text: (value, path) => textAt(value, path, 'assistant'),
  segments: (value, path) =>
    items(value, path).flatMap(([segment, at]) => (isFields(segment) ? textAt(segment['text'], [...at, 'text'], 'assistant') : [])),
  data: (value, path) =>
    items(value, path).flatMap(([item, at]) =>
      isFields(item) ? textAt(item['revised_prompt'], [...at, 'revised_prompt'], 'assistant') : [],
    ),
}

/** Whether an answer without a known shape may hold what a model says: that of a call by an unknown name, not a list of files. */
export interface AnswerKind {
  readonly operation: string
  readonly method: string
}

/** What is said in an answer, each piece with its path. */
export function responseTexts(json: unknown, { operation, method }: AnswerKind): readonly TextPart[] {
  const unknown = operation === 'proxy' && method === 'POST'
  if (!isFields(json)) return unknown ? everyText(json, [], 'assistant') : []
  const known = Object.entries(places).filter(([name]) => Object.hasOwn(json, name))
  const found = known.flatMap(([name, read]) => read(json[name], [name]))
  return found.length === 0 && unknown ? everyText(json, [], 'assistant') : found
}
