import { isFields } from '../../lib/json/fields.ts'
import type { RequestBody } from '../wire/body.ts'
import { inputBound } from './input-bound.ts'

/** Output of a request that names no bound of its own, of which nobody knows more. */
export const leastOutput = 1024

const boundFields = ['max_completion_tokens', 'max_tokens', 'max_output_tokens', 'max_tokens_to_sample', 'num_predict'] as const
const answerFields = ['n', 'best_of', 'candidateCount'] as const
/** The objects in which some formats have these fields, and their names there. */
const nested = [
  ['generationConfig', 'maxOutputTokens'],
  ['inferenceConfig', 'maxTokens'],
  ['options', 'num_predict'],
] as const

/** Estimates the tokens of a request before it is sent; `usual`: of an answer for which it names no bound. */
export const estimateTokens = (body: RequestBody, usual: number): number =>
  body.kind !== 'json' || body.bytes === null ? 0 : inputBound(body).tokens + outputTokens(body.json, saysNothing(body.json) ? 0 : usual)

/** Returns the most tokens of all answers together; `unbounded`: of one answer for which the request names no bound. */
export function outputTokens(json: unknown, unbounded: number, most = Infinity): number {
  if (!isFields(json)) return 0
  let answers = answersOf(json) * promptsOf(json)
  for (const [outer] of nested) {
    const fields = json[outer]
    if (isFields(fields)) answers = Math.max(answers, answersOf(fields))
  }
  return Math.min(boundOf(json) ?? unbounded, most) * answers
}

/** Returns the most tokens of one answer that a request names; null: it names none. */
export function boundOf(json: Readonly<Record<string, unknown>>): number | null {
  let bound: number | null = null
  for (const field of boundFields) bound ??= positive(json[field])
  for (const [outer, inner] of nested) {
    const fields = json[outer]
    if (isFields(fields)) bound ??= positive(fields[inner])
  }
  return bound
}

function answersOf(json: Readonly<Record<string, unknown>>): number {
  let most = 1
  for (const field of answerFields) most = Math.max(most, positive(json[field]) ?? 1)
  return most
}

/** Each of several prompts of a completion is answered; a list of numbers is one prompt. */
export const promptsOf = ({ prompt }: Readonly<Record<string, unknown>>): number =>
  Array.isArray(prompt) && typeof prompt[0] !== 'number' ? Math.max(1, prompt.length) : 1

/** Embeddings and the like have input alone. */
const saysNothing = (json: unknown): boolean =>
  isFields(json) && 'input' in json && !('instructions' in json) && typeof json['stream'] !== 'boolean'

/** Returns a figure of a request as a whole number; null: it names none. */
export const positive = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.min(Math.ceil(value), mostNamed) : null

/** More than any model takes or gives: products of such figures stay numbers. */
const mostNamed = 1e12
