/** One field of a form. */
export interface FormField {
  readonly name: string
  /** Null for a file. */
  readonly text: string | null
  /** The place of its content in the body. */
  readonly start: number
  readonly end: number
}

/** More and longer fields than in any client's form. */
const maxFields = 10_000
const longestHead = 8192

/**
 * The fields of a `multipart/form-data` body, in their order. Null when it is written in a way that not every reader understands alike: a part that a
 * guardrail takes for a file, a provider must not take for a text.
 */
export function readForm(bytes: Buffer, contentType: string): readonly FormField[] | null {
  const delimiter = delimiterOf(contentType)
  if (delimiter === null) return null
  const fields: FormField[] = []
  let at = startOf(bytes, delimiter)
  while (at !== -1 && fields.length < maxFields) {
    const from = at + delimiter.length
    const lineEnd = bytes.indexOf('\r\n', from)
    const line = bytes.toString('latin1', from, lineEnd === -1 ? bytes.length : Math.min(lineEnd, from + 80))
    if (/^--[ \t]*$/.test(line)) return isBlank(bytes, from + 2) ? fields : null
    const next = bytes.indexOf(delimiter, from)
    if (lineEnd === -1 || next === -1 || !/^[ \t]*$/.test(line) || bytes.toString('latin1', next - 2, next) !== '\r\n') return null
    const field = fieldIn(bytes, lineEnd + 2, next - 2)
    if (field === null) return null
    fields.push(field)
    at = next
  }
  return null
}

/** The one boundary that the content type names; null when it names none, or two. */
export function delimiterOf(contentType: string): string | null {
  if (!/^multipart\/form-data\s*;/i.test(contentType) || contentType.split(/boundary/i).length !== 2) return null
  const found = /;\s*boundary=(?:"([^"\\]+)"|([^\s;,"]+))\s*(?:;|$)/i.exec(contentType)
  const boundary = found?.[1] ?? found?.[2] ?? ''
  return boundary === '' ? null : `--${boundary}`
}

/** It stands at the beginning, or behind an empty line. */
function startOf(bytes: Buffer, delimiter: string): number {
  const at = bytes.indexOf(delimiter)
  return at === 0 || (at === 2 && bytes.toString('latin1', 0, 2) === '\r\n') ? at : -1
}

const isBlank = (bytes: Buffer, from: number): boolean => bytes.length - from < longestHead && bytes.toString('latin1', from).trim() === ''

function fieldIn(bytes: Buffer, from: number, end: number): FormField | null {
  const blank = bytes.indexOf('\r\n\r\n', from)
  if (blank === -1 || blank + 4 > end || blank - from > longestHead) return null
  const named = namedPart(bytes.toString('utf8', from, blank).split('\r\n'))
  if (named === null) return null
  const start = blank + 4
  return { name: named.name, text: named.isFile ? null : bytes.toString('utf8', start, end), start, end }
}

export interface FormPart {
  readonly name: string
  readonly isFile: boolean
  /** Empty when it is none, or has none. */
  readonly filename: string
}

const plainEncoding = /^content-transfer-encoding:[ \t]*(?:7bit|8bit|binary)[ \t]*$/i
const foreignCharset = /charset[ \t]*=[ \t]*"?(?!utf-?8\b|us-ascii\b)/i

/** The name that the headers of a part give it; null when one of them can be read in two ways. */
export function namedPart(lines: readonly string[]): FormPart | null {
  if (lines.some((line) => /[\r\n\0]/.test(line) || !/^[!-9;-~]+:/.test(line))) return null
  const dispositions = lines.filter((line) => /^content-disposition:/i.test(line))
  const encodings = lines.filter((line) => /^content-transfer-encoding:/i.test(line))
  const [disposition] = dispositions
  if (disposition === undefined || dispositions.length > 1 || !encodings.every((line) => plainEncoding.test(line))) return null
  const named = dispositionOf(disposition)
  const types = lines.filter((line) => /^content-type:/i.test(line))
  return named !== null && (named.isFile || !types.some((line) => foreignCharset.test(line))) ? named : null
}

const parameter = /;[ \t]*(name|filename\*?)=(?:"([^"\r\n]*)"|([^\s;"\\]+))[ \t]*/giy

function dispositionOf(line: string): FormPart | null {
  const start = /^content-disposition:[ \t]*form-data[ \t]*/i.exec(line)
  const found = start === null ? null : parametersOf(line.slice(start[0].length))
  const name = found?.get('name') ?? ''
  if (found === null || name === '' || name === '__proto__' || name.includes('\\')) return null
  const filename = found.get('filename') ?? ''
  return { name, isFile: filename !== '' || found.has('filename*'), filename }
}

/** The parameters of a disposition; null when one comes twice, or the rest of the line is something else. */
function parametersOf(text: string): ReadonlyMap<string, string> | null {
  const found = [...text.matchAll(parameter)]
  const values = new Map(found.map(([, key = '', quoted, token = '']) => [key.toLowerCase(), quoted ?? token]))
  const length = found.reduce((sum, [whole]) => sum + whole.length, 0)
  const isClear = values.size === found.length && length === text.length && !found.some(([, , quoted]) => quoted?.endsWith('\\') === true)
  return isClear ? values : null
}

/** Returns whether a content type is that of a form with files. */
export const isForm = (contentType: string): boolean => contentType.toLowerCase().startsWith('multipart/')
