import { isFields } from '../../lib/json/fields.ts'
import { editJson } from '../../lib/json/json-edit.ts'
import { parseJson } from '../../lib/json/json.ts'
import { repeatedKey } from '../../lib/json/repeated-key.ts'
import { mayHoldWords, type RequestBody } from '../wire/body.ts'
import { type FormField, readForm } from '../wire/form.ts'
import type { AimedCall } from '../call.ts'
import type { DialectId } from '../dialects/dialect.ts'
import type { TextPart } from '../dialects/neutral/texts.ts'
import type { BodyEdit } from './check.ts'
import { isPlain, isPlainText, namesForeignCharset, saysInTokens, withoutEscapes } from './coded-texts.ts'
import { requestFacts } from './facts.ts'
import { editForm, formJson } from './form-body.ts'
import { unreadable } from './plain-bodies.ts'
import { lastText } from './plain-bodies.ts'
import { addressed, addressTexts, requestTexts } from '../dialects/request-texts.ts'
import type { CheckedBody } from './run.ts'
import { isVast, vast } from '../dialects/texts/walk.ts'

/** How the bytes of a body are understood; JSON is read as JSON, even under another type. */
type BodyContent =
  | { readonly kind: 'nothing' | 'text' }
  | { readonly kind: 'json'; readonly json: unknown }
  | { readonly kind: 'form'; readonly fields: readonly FormField[] }
  | { readonly kind: 'closed'; readonly reason: string }

/** A request body as checks see it, and as it can be sent. */
export interface InspectedBody extends CheckedBody {
  readonly body: RequestBody
  readonly reading: BodyContent
}

const long = 'The body is so large that it is passed on as it comes, unread.'
const unclear = 'The form is written in a way that readers understand differently.'
const opaque = 'The body is of a kind that cannot be read.'
const foreign = 'The body is in another charset than UTF-8.'
const inTokens = 'It holds a prompt as numbers of tokens, which cannot be read.'

/** Returns the parts of a body that checks can read. */
export function inspectBody(body: RequestBody, aimed: AimedCall): InspectedBody {
  const { headers, operation, path } = aimed.call
  const reading = readingOf(body, headers.contentType)
  const json = reading.kind === 'json' ? reading.json : reading.kind === 'form' ? formJson(reading.fields) : undefined
  const facts = requestFacts(aimed, { ...body, json, kind: reading.kind === 'json' ? 'json' : body.kind })
  const held = { body, reading, facts }
  if (reading.kind === 'closed') return { ...unreadable(reading.reason), ...held }
  const unread = isVast(json) ? vast : saysInTokens(json) ? inTokens : null
  if (unread !== null) return { ...held, json, parts: [], unread }
  const parts = partsOf(reading, { body, json, dialect: operation.spec?.dialect ?? null, contentType: headers.contentType })
  const beside = mayHoldTexts(path) ? addressTexts(path) : []
  return { ...held, json, parts: beside.length === 0 ? parts : [...beside, ...parts] }
}

function readingOf({ kind, bytes, json }: RequestBody, contentType: string): BodyContent {
  if (kind === 'none' || bytes?.length === 0) return { kind: 'nothing' }
  if (namesForeignCharset(contentType)) return { kind: 'closed', reason: foreign }
  if (kind === 'json') return { kind, json }
  if (bytes === null) return { kind: 'closed', reason: long }
  const parsed = jsonIn(bytes)
  if (parsed !== undefined) return { kind: 'json', json: parsed }
  return mayHoldWords(contentType) ? textReading(bytes) : formReading(bytes, contentType)
}

const textReading = (bytes: Buffer): BodyContent => (isPlainText(bytes) ? { kind: 'text' } : { kind: 'closed', reason: foreign })

function formReading(bytes: Buffer, contentType: string): BodyContent {
  const fields = readForm(bytes, contentType)
  if (fields !== null && fields.every(({ text }) => text === null || isPlain(text))) return { kind: 'form', fields }
  return { kind: 'closed', reason: /^multipart\/form-data\b/i.test(contentType) ? unclear : opaque }
}

/** An object or a list in the bytes, although their type does not declare it. */
function jsonIn(bytes: Buffer): unknown {
  if (!/^\s*[{[]/.test(bytes.toString('latin1', 0, 1024))) return undefined
  try {
    const json = parseJson(bytes)
    return repeatedKey(bytes.toString('utf8'), json) === null ? json : undefined
  } catch {
    return undefined
  }
}

/** Paths of the API hold no texts. */
const mayHoldTexts = (path: string): boolean => path.includes('?') || path.includes('%')

/** Why a change cannot be made to a request; null when it can. */
export const refusesEdit = ({ path: [first] }: BodyEdit): string | null =>
  first === addressed ? 'Texts in the path, the query and escapes of a body cannot be changed.' : null

interface BodyRead {
  readonly body: RequestBody
  readonly json: unknown
  readonly dialect: DialectId | null
  readonly contentType: string
}

function partsOf({ kind }: BodyContent, { body: { bytes }, json, dialect, contentType }: BodyRead): readonly TextPart[] {
  if (kind === 'text') return textParts(bytes?.toString('utf8') ?? '', contentType)
  if (kind === 'form') return requestTexts(isFields(json) ? withoutFiles(json) : json, dialect)
  return kind === 'json' ? requestTexts(json, dialect) : []
}

/** A text as it stands and, when it has escapes, as it is for a reader who resolves them; that cannot be changed. */
function textParts(text: string, contentType: string): readonly TextPart[] {
  const plain = withoutEscapes(text, contentType)
  const parts: readonly TextPart[] = [{ path: [], role: 'user', text }]
  return plain === text ? parts : [...parts, { path: [addressed, 'body'], role: 'user', text: plain }]
}

const withoutFiles = (json: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null))

/** A body with the changes of checks. Throws when it cannot be changed so. */
export function editBody({ body, reading }: InspectedBody, edits: readonly BodyEdit[], contentType: string): RequestBody {
  if (reading.kind === 'nothing') return body
  if (body.bytes === null || reading.kind === 'closed') throw new Error('The body cannot be read, and so not be changed.')
  const bytes = editedBytes(body.bytes, reading, { edits, contentType })
  const json: unknown = body.kind === 'json' ? JSON.parse(bytes.toString('utf8')) : undefined
  return { ...body, bytes, json, length: bytes.length }
}

interface BodyEdits {
  readonly edits: readonly BodyEdit[]
  readonly contentType: string
}

function editedBytes(bytes: Buffer, reading: BodyContent, { edits, contentType }: BodyEdits): Buffer {
  if (reading.kind === 'form') return editForm({ bytes, contentType, fields: reading.fields }, edits)
  return Buffer.from(reading.kind === 'json' ? editJson(bytes.toString('utf8'), edits) : lastText(edits))
}
