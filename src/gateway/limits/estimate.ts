import { type Fields, isFields } from '../../lib/json/fields.ts'
import { sentValues } from '../dialects/sent-fields.ts'
import type { Task } from '../operations/operations.ts'
import type { RequestBody } from '../wire/body.ts'
import { inputBound } from './input-bound.ts'
import { outputBound, type OutputReader } from './output-bound.ts'

/** Output of a request that names no bound of its own, without a better estimate. */
export const leastOutput = 1024

/** The tasks whose answers hold no tokens of a model. */
const silent: ReadonlySet<Task | null> = new Set<Task | null>(['embedding', 'moderation', 'rerank', 'speech', 'token-count'])

/** A request whose tokens are estimated. */
export interface EstimateInput {
  readonly body: RequestBody
  /** Null: the path is the provider's own. */
  readonly task: Task | null
  readonly reader: OutputReader
}

/** Estimates the tokens of a request before it is sent; `usual`: of an answer for which it names no bound. */
export function estimateTokens({ body, task, reader }: EstimateInput, usual: number): number {
  if (body.kind !== 'json' || body.bytes === null) return 0
  return inputBound(body).tokens + (silent.has(task) ? 0 : outputTokens(body.json, reader, { unbounded: usual }))
}

/** How long answers are that no field bounds, and the longest that a model gives. */
export interface AnswerLengths {
  readonly unbounded: number
  readonly most?: number | undefined
}

/** Returns the most tokens of all answers together. A field that the provider may not read makes them more, and never less. */
export function outputTokens(json: unknown, reader: OutputReader, { unbounded, most = Infinity }: AnswerLengths): number {
  if (!isFields(json)) return 0
  const bound = outputBound(json, reader)
  const each = bound.isSure ? (bound.most ?? unbounded) : Math.max(bound.most ?? 0, unbounded)
  return Math.min(each, most) * bound.answers * promptsOf(json)
}

/** Returns true if a request bounds its answer, in a field that its provider reads. */
export const isBounded = (json: unknown, reader: OutputReader): boolean => isFields(json) && outputBound(json, reader).isSure

/** Each of several prompts of a completion is answered; a list of numbers is one prompt. */
export const promptsOf = (json: Fields): number =>
  Math.max(1, ...sentValues(json, 'prompt').map((prompt) => (Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt.length : 1)))
