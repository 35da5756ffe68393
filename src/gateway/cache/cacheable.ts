import { hasEnded, holdsError } from '../dialects/answer-marks.ts'
import type { OperationSpec } from '../front/operations.ts'

/** Fields of a body by which an answer depends on, or changes, what the provider stores. */
const stateful = ['previous_response_id', 'conversation', 'background']

/** Tells whether an answer to this request may be kept: a JSON body of an operation without effects. */
export function isCacheable(spec: OperationSpec | null, json: unknown): boolean {
  if (spec?.answersAgain === undefined || typeof json !== 'object' || json === null || Array.isArray(json)) return false
  return stateful.every((name) => {
    const value: unknown = Reflect.get(json, name)
    return value === undefined || value === null || value === false
  })
}

/** Tells whether the bytes are a whole, successful answer. `encoding`: the content encoding of the bytes; those of a packed stream cannot be judged. */
export function isWhole(body: Buffer, { stream, encoding }: { readonly stream: boolean; readonly encoding: string }): boolean {
  if (encoding !== '') return !stream
  const text = body.toString('latin1')
  return !holdsError(text) && (!stream || hasEnded(text))
}
