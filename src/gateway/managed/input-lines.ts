import { ByteList } from '../../lib/collections/byte-list.ts'
import { ApiError } from '../../lib/errors.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
import { rememberExact } from '../../lib/json/exact-json.ts'
import { parseJson } from '../../lib/json/json.ts'
import { oneLine } from '../../lib/text/one-line.ts'
import { validateBody } from '../bounds/validate.ts'
import type { Operation } from '../operations/operations.ts'
import type { NewLine } from './batch-store.ts'

/** The paths that a batch may be for: each answers JSON, and keeps no state. */
export const batchEndpoints: Readonly<Record<string, Operation>> = {
  '/v1/chat/completions': 'chatComplete',
  '/v1/completions': 'complete',
  '/v1/embeddings': 'embed',
  '/v1/images/generations': 'imageGenerate',
  '/v1/messages': 'messages',
  '/v1/moderations': 'moderate',
  '/v1/responses': 'createModelResponse',
}

/** A fault of a line of an input file, as the field `errors` of a batch has it. */
export interface LineFault {
  readonly line: number
  readonly code: string
  readonly param: string | null
  readonly message: string
}

/** A line as it stands in the file, without its end. */
export interface InputLine {
  /** From 1. */
  readonly line: number
  readonly start: number
  /** Null: it is longer than a line may be, and was not kept. */
  readonly bytes: Buffer | null
}

/** The bounds of the lines of a file. */
export interface LineBounds {
  /** The most bytes of a line that is kept. */
  readonly longest: number
  /** Blank lines are left out up to this line; those behind it are found like others. */
  readonly blankUpTo: number
}

/** Cuts a file into its lines, without blank ones; at most one is held. */
export async function* linesOf(file: AsyncIterable<Buffer>, { longest, blankUpTo }: LineBounds): AsyncIterable<InputLine> {
  const held = new ByteList()
  let [line, start, size] = [1, 0, 0]
  const add = (part: Buffer) => {
    size += part.length
    if (size <= longest) held.push(part)
    else held.clear()
  }
  /** Ends a line; null: it is blank. A file of line ends has many, for which no object is made. */
  const cut = (): InputLine | null => {
    const isLeftOut = line <= blankUpTo && (size === 0 || (size <= longest && isBlank(held.join())))
    const found = isLeftOut ? null : { line, start, bytes: size > longest ? null : Buffer.from(held.join()) }
    start += size + 1
    line += 1
    size = 0
    held.clear()
    return found
  }
  for await (const chunk of file) {
    let from = 0
    for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, from)) {
      if (at > from) add(chunk.subarray(from, at))
      const found = cut()
      if (found !== null) yield found
      from = at + 1
    }
    add(chunk.subarray(from))
  }
  const last = size > 0 ? cut() : null
  if (last !== null) yield last
}

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09) return false
  return true
}

const longestCustomId = 512

/** Returns the body of the request of a line that was checked before. Throws ApiError when it has none. */
export function readLine(bytes: Buffer): Fields {
  const json = parseJson(bytes, undefined, rememberExact)
  if (!isFields(json) || !isFields(json['body'])) throw new ApiError('invalid_request', 'The line is not a request of a batch.')
  return json['body']
}

type LineCheck = { readonly faults: readonly LineFault[] } | { readonly request: NewLine }

/** Checks a line as far as that is possible before its target is known, and returns all its faults. */
export function checkLine({ line, start, bytes }: InputLine, endpoint: string, longest: number): LineCheck {
  if (bytes === null)
    return {
      faults: [{ line, code: 'line_too_long', param: null, message: `The line is longer than ${longest} bytes, which is the most.` }],
    }
  let json: unknown
  try {
    json = parseJson(bytes)
  } catch (error) {
    return { faults: [{ line, code: 'invalid_json_line', param: null, message: messageOf(error).replace('The request body', 'The line') }] }
  }
  if (!isFields(json)) return { faults: [{ line, code: 'invalid_json_line', param: null, message: 'The line is no JSON object.' }] }
  const faults = [...headFaults(json, endpoint), ...bodyFaults(json['body'], endpoint)]
  if (faults.length > 0) return { faults: faults.map(({ code, param, message }) => ({ line, code, param, message })) }
  return { request: { line, start, bytes: bytes.length, customId: String(json['custom_id']) } }
}

type Fault = Omit<LineFault, 'line'>

function headFaults(json: Fields, endpoint: string): readonly Fault[] {
  const { custom_id: id, method, url } = json
  const faults: (Fault | null)[] = [
    typeof id === 'string' && id !== '' && id.length <= longestCustomId
      ? null
      : fault('custom_id', id, `must be a text of 1 to ${longestCustomId} characters`),
    method === 'POST' ? null : fault('method', method, 'must be POST'),
    url === endpoint ? null : fault('url', url, `must be ${endpoint}, the endpoint of the batch`),
  ]
  return faults.filter((one) => one !== null)
}

function bodyFaults(body: unknown, endpoint: string): readonly Fault[] {
  if (!isFields(body)) return [fault('body', body, 'must be an object')]
  const { stream, model } = body
  const faults: Fault[] = []
  if (stream !== undefined && stream !== null && stream !== false)
    faults.push(fault('body.stream', stream, 'must be absent or false: a batch has no streams'))
  if (model !== undefined && typeof model !== 'string') faults.push(fault('body.model', model, 'must be a text'))
  if (body['background'] === true) faults.push(fault('body.background', true, 'must be absent or false: a line has its answer at once'))
  return [...faults, ...boundFaults(body, endpoint)]
}

/** The bounds that the pipeline would refuse the line by. */
function boundFaults(body: Fields, endpoint: string): readonly Fault[] {
  const operation = batchEndpoints[endpoint]
  if (operation === undefined) return []
  try {
    validateBody(operation, body, 'lenient')
    return []
  } catch (error) {
    const issues = error instanceof ApiError ? (error.details.issues ?? []) : []
    return issues.map(({ param, code, message }) => ({ code, param: `body.${param}`, message: `body.${param}: ${message}` }))
  }
}

const fault = (param: string, value: unknown, rule: string): Fault => ({
  code: value === undefined ? 'missing_required_parameter' : 'invalid_value',
  param,
  message: value === undefined ? `${param} is missing: it ${rule}.` : `${param} ${rule}. Got ${oneLine(JSON.stringify(value) ?? '', 80)}.`,
})

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
