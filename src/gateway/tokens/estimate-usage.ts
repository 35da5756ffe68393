import { isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import type { DialectId } from '../dialects/dialect.ts'
import type { Counts } from '../dialects/neutral/counts.ts'
import { outputTokens, promptTokens } from '../dialects/neutral/disjoint.ts'
import { spanningTexts } from '../dialects/spanning-texts.ts'
import type { ReadBefore } from '../limits/read-before.ts'
import { cutFrames, dataOf } from '../wire/sse.ts'
import { type EstimatedRequest, estimateAnswer, estimateInput, estimateTexts } from './estimate-tokens.ts'

/** An exchange whose usage the provider stated in part or not at all. */
export interface EstimatedExchange {
  readonly request: EstimatedRequest
  readonly answer: DeliveredAnswer
  /** The tokens that an answer is expected to have at least, of which nobody saw the end. */
  readonly expected: number
  /** False for operations, such as embeddings, whose answers are not sold by the token. */
  readonly sellsOutput: boolean
  /** The part of the prompt that its provider keeps; undefined: none. */
  readonly before?: ReadBefore | undefined
}

/** The part of an answer that reached the caller. */
export interface DeliveredAnswer {
  /** The first bytes, without their content encoding. */
  readonly head: Buffer
  /** All bytes, of which the head is the beginning. */
  readonly size: number
  readonly stream: boolean
  /** True if it did not come to its end. */
  readonly isCut: boolean
}

/**
 * Fills the counts that a provider did not state: a prompt that it counted stays as it is, and an answer that broke off has at least the tokens that
 * the caller got. Hidden reasoning is not in the estimate: it is a lower bound.
 */
export function fillCounts(told: Counts, { request, answer, expected, sellsOutput, before }: EstimatedExchange): Counts {
  const { input, audio } = promptTokens(told) > 0 ? noPrompt : promptOf(request, before)
  const missing = sellsOutput ? Math.max(estimateDelivered(answer, request), expected) - outputTokens(told) : 0
  if (input === 0 && missing <= 0) return told
  return {
    ...told,
    ...(input === 0 ? {} : { input }),
    ...(audio === 0 ? {} : { input_audio: audio }),
    ...(missing <= 0 ? {} : { output: (told.output ?? 0) + missing }),
  }
}

const noPrompt = { input: 0, audio: 0 }

/** Returns the tokens of a prompt, with those that its provider keeps. */
const promptOf = (request: EstimatedRequest, { tokens, audio }: Omit<ReadBefore, 'isOpen'> = { tokens: 0, audio: 0 }): typeof noPrompt => ({
  input: atLeastOne(request) + tokens - audio,
  audio,
})

/** Every readable prompt has a token: one without words does not have an unknown cost. */
const atLeastOne = (request: EstimatedRequest): number => (isFields(request.json) ? Math.max(1, estimateInput(request)) : 0)

/** Estimates the tokens of an answer by its first bytes; the rest is taken to be like them. */
function estimateDelivered({ head, size, stream, isCut }: DeliveredAnswer, { dialect, model }: EstimatedRequest): number {
  if (head.length === 0) return 0
  const counted = stream ? estimateTexts(textsOfStream(head, dialect), model) : estimateWhole(head, { dialect, model, isCut })
  return size > head.length ? Math.ceil((counted * size) / head.length) : counted
}

const jsonOf = (head: Buffer): unknown => jsonOrUndefined(head.toString('utf8'))

interface WholeEstimate extends Pick<EstimatedRequest, 'dialect' | 'model'> {
  readonly isCut: boolean
}

/** The words of an error are the provider's, and not the model's. An answer whose JSON is cut is counted as a text. */
function estimateWhole(head: Buffer, { dialect, model, isCut }: WholeEstimate): number {
  const json = jsonOf(head)
  if (json === undefined && isCut) return estimateTexts([head.toString('utf8')], model)
  return isError(json) ? 0 : estimateAnswer({ json, size: head.length, dialect, model })
}

const textsOfStream = (head: Buffer, dialect: DialectId | null): readonly string[] =>
  spanningTexts(
    cutFrames(head).flatMap((frame) => {
      const json = jsonOrUndefined(dataOf(frame))
      return json === undefined || isError(json) || isNamedError(frame) ? [] : [json]
    }),
    dialect,
    1,
  ).map(({ text }) => text)

/** Returns true for an answer, or an event of a stream, that is an error in the form of any format. */
function isError(json: unknown): boolean {
  if (!isFields(json)) return false
  const { type, error, response } = json
  if (type === 'error' || type === 'response.failed' || isTold(error)) return true
  return isFields(response) && isTold(response['error'])
}

const isTold = (error: unknown): boolean => isFields(error) || (typeof error === 'string' && error !== '')
const isNamedError = (frame: Buffer): boolean => /^event: ?(?:error|exception)/m.test(frame.toString('latin1'))
