import { ApiError } from '../../lib/errors.ts'

/** Longer than the head of any client's field. */
const longestHead = 8192
const longestValue = 1024
/** Nor so many of them. */
const maxParts = 10_000

/** Fields of a form. */
interface WantedField {
  /** The source of a regular expression for their names. */
  readonly field: string
  /** Their values are cut after so many bytes; absent: after the length of any name. */
  readonly longest?: number
}

/** The values of the fields of a multipart body that a pattern names, wherever they stand; files are only passed over. Throws `invalid_request`. */
export function formValues(bytes: Buffer, contentType: string, { field, longest = longestValue }: WantedField): readonly string[] {
  const boundary = /;\s*boundary=(?:"([^"]+)"|([^\s;,"]+))/i.exec(contentType)
  const delimiter = `--${boundary?.[1] ?? boundary?.[2] ?? ''}`
  if (delimiter === '--') throw new ApiError('invalid_request', 'A multipart body needs a boundary.', { param: 'content-type' })
  const named = new RegExp(String.raw`[;\s]name\*?\s*=\s*(?:[\w-]*'[\w-]*')?"?${field}"?\s*(?:;|[\r\n]|$)`, 'i')
  const values: string[] = []
  let parts = 0
  for (let at = bytes.indexOf(delimiter); at !== -1;) {
    parts += 1
    if (parts > maxParts) throw new ApiError('invalid_request', `The form has more than ${maxParts} parts.`, { param: 'body' })
    const next = bytes.indexOf(delimiter, at + delimiter.length)
    const part = bytes.subarray(at + delimiter.length, next === -1 ? bytes.length : next)
    const [head, value] = split(part)
    if (named.test(head)) values.push(value.subarray(0, longest).toString().trim())
    at = next
  }
  return values
}

/** The headers and the content of a part. */
function split(part: Buffer): readonly [head: string, value: Buffer] {
  const [crlf, lf] = [part.indexOf('\r\n\r\n'), part.indexOf('\n\n')]
  const end = crlf === -1 || (lf !== -1 && lf < crlf) ? lf : crlf
  if (end === -1) return ['', part]
  if (end > longestHead)
    throw new ApiError('invalid_request', `The headers of a part are longer than ${longestHead} bytes.`, { param: 'body' })
  return [part.toString('latin1', 0, end), part.subarray(end)]
}
