import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { NeutralError } from './neutral/error.ts'
import { readProviderError } from './provider-error.ts'

/** An error that names no status, nor a word for one, stands for this one. */
const noStatus = 502

/** The part of an error that is passed on if it is no JSON, such as a page of a proxy. */
const mostText = 500

/** Reads an error in any form. `status`: of the answer; 0 in a stream, where the error's own word decides. */
export function readError(status: number, body: unknown): NeutralError {
  const json: unknown = Array.isArray(body) ? body[0] : body
  if (!isFields(json)) return { status: status || noStatus, message: plainText(json), type: null, code: null, param: null }
  const inner = innerError(json)
  const told = status || (readProviderError({ error: inner })?.status ?? noStatus)
  return {
    status: told,
    message: messageIn(inner) ?? messageIn(json) ?? 'The provider gave no reason.',
    type: textOf(inner['type']) ?? textOf(inner['status']) ?? textOf(inner['__type']),
    code: textOf(inner['code']),
    param: textOf(inner['param']) ?? placeIn(json),
  }
}

const plainText = (json: unknown): string =>
  typeof json === 'string' && json.trim() !== '' ? json.trim().slice(0, mostText) : 'The provider gave no reason.'

function innerError(json: Fields): Fields {
  const { error, response } = json
  if (isFields(error)) return error
  return isFields(response) && isFields(response['error']) ? response['error'] : json
}

/** The fields that hold the message of an error, in the order in which they are looked for. */
const messageFields = ['message', 'error', 'detail', 'err_msg'] as const

function messageIn(from: Fields): string | null {
  const { message, detail, errors } = from
  if (isFields(message)) return messageIn(message) ?? JSON.stringify(message).slice(0, mostText)
  const said = messageFields.map((name) => from[name]).find((value) => typeof value === 'string')
  if (typeof said === 'string') return said
  const [first]: readonly unknown[] = Array.isArray(detail) ? detail : Array.isArray(errors) ? errors : [detail]
  return isFields(first) ? (textOf(first['msg']) ?? textOf(first['message'])) : textOf(first)
}

/** Returns the place that the first of several faults has: `{ "loc": ["body", "temperature"] }`. */
function placeIn({ detail }: Fields): string | null {
  const [first]: readonly unknown[] = Array.isArray(detail) ? detail : []
  const steps: unknown = isFields(first) ? first['loc'] : null
  if (!Array.isArray(steps)) return null
  return steps.filter((step) => (typeof step === 'string' || typeof step === 'number') && step !== 'body').join('.') || null
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : null)
