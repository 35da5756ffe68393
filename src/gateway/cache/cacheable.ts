import { hasEnded, holdsError } from '../dialects/answer-marks.ts'
import { type AnsweredWork, faultOfStream, faultOfWhole } from '../answers/answer-fault.ts'
import { decompress } from '../wire/encoding.ts'
import type { OperationSpec } from '../operations/operations.ts'

/** Fields of a body by which an answer depends on the provider's stored state, or changes it. */
const stateful = ['previous_response_id', 'conversation', 'background']

/** Returns whether an answer to this request may be kept: a JSON body of an operation without effects. */
export function isCacheable(spec: OperationSpec | null, json: unknown): boolean {
  if (spec?.answersAgain === undefined || typeof json !== 'object' || json === null || Array.isArray(json)) return false
  return stateful.every((name) => {
    const value: unknown = Reflect.get(json, name)
    return value === undefined || value === null || value === false
  })
}

/** An answer that arrived to its end. */
export interface CompleteAnswer {
  readonly stream: boolean
  /** The content encoding; empty: none. */
  readonly encoding: string
  readonly contentType: string
  readonly work: AnsweredWork
}

/** Returns whether the bytes are a whole, successful answer. Those of a packed stream cannot be judged. */
export function isWhole(body: Buffer, { stream, encoding, contentType, work }: CompleteAnswer): boolean {
  if (stream) return encoding === '' && isWholeStream(body, work)
  const bytes = encoding === '' ? body : decompress(body, encoding)
  if (bytes.length === 0) return body.length > 0
  return !holdsError(bytes.toString('latin1')) && faultOfWhole({ bytes, contentType }, work) === null
}

function isWholeStream(body: Buffer, work: AnsweredWork): boolean {
  const text = body.toString('latin1')
  return !holdsError(text) && hasEnded(text) && faultOfStream(body, work) === null
}
