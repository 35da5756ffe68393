import { isFields } from '../../lib/json/fields.ts'
import { isForm } from '../wire/form.ts'
import { fetchedFields } from '../wire/form-watch.ts'
import { fewestBytesPerMs, mostRecordedMs, recordedMs } from '../wire/recorded-length.ts'
import type { RequestBody } from '../wire/body.ts'

/** Speech has mostly so many bytes for each millisecond: 16 kbit/s and more. */
const bytesPerMs = 2
/** The longest recording that providers take, of 25 MB: a length that is not seen may be that of any. */
const longestMs = (25 * 1024 * 1024) / bytesPerMs

/** A request for the words of a recording. */
interface RecordingRequest {
  readonly body: RequestBody
  readonly contentType: string
}

/** Bounds the length of a recording in milliseconds. `isStrict`: null where it does not pass, since nobody knows how long it is. */
export function recordingBound(request: RecordingRequest, isStrict: boolean): number | null {
  const ms = isStrict ? mostMs(request) : (usualMs(request) ?? Math.max(longestMs, (request.body.length ?? 0) / bytesPerMs))
  return ms === null ? null : Math.ceil(ms)
}

function usualMs(request: RecordingRequest): number | null {
  const size = sizeOf(request)
  const { bytes, watched } = request.body
  if (size === null) return null
  return (bytes === null || watched === undefined ? null : recordedMs(watched.told())) ?? size / bytesPerMs
}

function mostMs(request: RecordingRequest): number | null {
  const size = sizeOf(request)
  const { watched } = request.body
  return size === null ? null : watched === undefined ? size / fewestBytesPerMs : mostRecordedMs(watched.told())
}

/** Returns the bytes of a body that has the recording in it; null: it may be elsewhere. */
function sizeOf({ body, contentType }: RecordingRequest): number | null {
  const isSeen = body.kind === 'json' ? !isElsewhere(body.json) : isForm(contentType) ? hasFile(body) : isSound.test(contentType)
  return isSeen ? (body.bytes?.length ?? body.length) : null
}

const hasFile = ({ bytes, watched }: RequestBody): boolean => bytes !== null && (watched?.told().files?.length ?? 0) > 0

/** A body without a type is read as what it is. */
const isSound = /^(?:$|audio\/|video\/|application\/(?:octet-stream|ogg))/i

const address = /^(?!data:)[a-z][a-z0-9+.-]{1,15}:\/\//i
/** Settings of settings of a request. */
const deepest = 8

/** Returns true for JSON that names an address or a file, which may be that of its recording. */
function isElsewhere(json: unknown, depth = 0): boolean {
  if (typeof json === 'string') return address.test(json)
  if (Array.isArray(json)) return depth > deepest || json.some((one: unknown) => isElsewhere(one, depth + 1))
  if (!isFields(json)) return false
  return depth > deepest || Object.entries(json).some(([name, held]) => isNaming(name, held) || isElsewhere(held, depth + 1))
}

const isNaming = (name: string, held: unknown): boolean => fetchedFields.has(name) && (held ?? null) !== null
