import { rememberExact } from '../../lib/json/exact-json.ts'
import { type MaybePromise, settled } from '../../lib/maybe-promise.ts'
import { PassThrough, type Readable } from 'node:stream'
import { isFields } from '../../lib/json/fields.ts'
import { type Pausable, paceOf } from '../../lib/shares/pace.ts'
import { parseJson } from '../../lib/json/json.ts'
import type { Inbound } from '../exchange/exchange.ts'
import { clientGone, collect, collected, collectOrGiveBack, refuseLong, tooLarge } from './collect.ts'
import { canDecompress, decompressRequest } from './encoding.ts'
import { type FormWatch, watchForm } from './form-watch.ts'

/** A request body: held whole when we must read it, handed through as it comes otherwise. */
export interface RequestBody {
  readonly kind: 'none' | 'json' | 'bytes' | 'stream'
  /** The bytes as they came; null for a stream and for none. */
  readonly bytes: Buffer | null
  /** The parsed value of a JSON body. */
  readonly json: unknown
  readonly stream: Readable | null
  /** Declared length of a stream, null when chunked. */
  readonly length: number | null
  /** The watch of a form; absent: it is not watched. */
  readonly watched?: FormWatch
}

export interface BodyOptions {
  readonly contentType: string
  /** Empty for bytes that are as they are. */
  readonly contentEncoding: string
  readonly maxJsonBytes: number
  readonly maxUploadBytes: number
  /** The organisation that sends it. */
  readonly owner: string
  /** Resolves when so many bytes may be parsed; null: at once. Rejects when they need not be. */
  readonly turn: (bytes: number) => Promise<void> | null
  /** Hold even an opaque body of up to so many bytes, because a step reads it or the credential signs it; 0: it is streamed through. */
  readonly maxHeldBytes: number
  /** More than may be held goes through as it comes, in place of being refused. */
  readonly letsLongOnesPass?: boolean
  /** True: the parts of a form that decide the cost of its answer are kept. */
  readonly watches?: boolean
  /** Gets a body that is no JSON as it comes, before it goes on, and throws an `ApiError` if it may not. */
  readonly inspects?: ((chunk: Buffer) => void) | null | undefined
  /** By how much a body whose beginning was read and put back is shorter than was declared. */
  readonly shortenedBy?: number
}

const none: RequestBody = { kind: 'none', bytes: null, json: undefined, stream: null, length: null }
/** Lists of JSON texts (`json-seq`, `json-lines`) are no JSON text. */
const jsonType = /^application\/(?:[\w.+-]+\+)?json(?![\w.+-])/i

/** Returns whether a content type is JSON, `+json` types included. */
export const isJsonType = (contentType: string): boolean => contentType === 'application/json' || jsonType.test(contentType)

/** Uploads of files and of media hold no words; all other bodies may. */
export const mayHoldWords = (contentType: string): boolean =>
  !/^(?:multipart\/|audio\/|image\/|video\/|application\/(?:octet-stream|pdf|zip|gzip)\b)/i.test(contentType)

/** The model that a parsed body names. */
export const modelOf = (json: unknown): string | null => (isFields(json) && typeof json['model'] === 'string' ? json['model'] : null)

/** Reads (JSON) or opens (all else) the body of a request. Throws `payload_too_large`, `invalid_request`, `client_closed`. */
export function readBody(asked: Inbound, options: BodyOptions): MaybePromise<RequestBody> {
  const length = declaredLength(asked)
  if (length === 0 || (length === null && asked.header('transfer-encoding') === undefined)) return none
  const json = isReadableJson(options)
  const limit = json ? options.maxJsonBytes : options.maxUploadBytes
  if (length !== null && length > limit) throw tooLarge(limit)
  if (json) return readJson(asked.body, limit, options)
  const watched = watchedForm(options)
  const { owner } = options
  const opened = { owner, limit, length: length === null ? null : length - (options.shortenedBy ?? 0), watched, inspects: options.inspects }
  if (options.maxHeldBytes === 0) return openStream(asked, opened)
  return holdOpaque(asked, Math.min(limit, options.maxHeldBytes), options).then((held) =>
    held === null ? openStream(asked, opened) : toHeldBody(held, opened),
  )
}

const watchedForm = ({ watches, contentType }: BodyOptions): FormWatch | undefined =>
  (watches === true ? watchForm(contentType) : null) ?? undefined

function toHeldBody(bytes: Buffer, { watched, inspects }: Pick<OpenBody, 'watched' | 'inspects'>): RequestBody {
  watched?.add(bytes)
  inspects?.(bytes)
  return { kind: 'bytes', bytes, json: undefined, stream: null, length: bytes.length, ...(watched !== undefined && { watched }) }
}

interface OpenBody {
  readonly owner: string
  readonly limit: number
  readonly length: number | null
  readonly watched: FormWatch | undefined
  readonly inspects: BodyOptions['inspects']
}

const openStream = (asked: Inbound, { length, ...opened }: OpenBody): RequestBody => ({
  kind: 'stream',
  bytes: null,
  json: undefined,
  stream: bounded(asked, opened),
  length,
  ...(opened.watched !== undefined && { watched: opened.watched }),
})

/** Returns whether a body is JSON whose bytes are as they are, or can be decompressed to it. */
export const isReadableJson = ({ contentType, contentEncoding }: Pick<BodyOptions, 'contentType' | 'contentEncoding'>): boolean =>
  isJsonType(contentType) && (contentEncoding === '' || canDecompress(contentEncoding))

function readJson(source: Readable, limit: number, { contentEncoding, turn, owner }: BodyOptions): Promise<RequestBody> {
  const read = (bytes: Buffer): MaybePromise<RequestBody> => settled(turn(bytes.length), () => toJsonBody(bytes))
  return contentEncoding === ''
    ? collected<RequestBody>(source, { limit, owner }, { whole: read, overflow: refuseLong })
    : collect(source, { limit, owner }).then(async (bytes) => read(await decompressRequest(bytes, contentEncoding, limit)))
}

const toJsonBody = (bytes: Buffer): RequestBody =>
  bytes.length === 0 ? none : { kind: 'json', bytes, json: parseJson(bytes, undefined, rememberExact), stream: null, length: bytes.length }

/** The bytes of a body; null when there are more than may be held, and it may go through as it comes. */
async function holdOpaque(asked: Inbound, limit: number, { letsLongOnesPass = false, owner }: BodyOptions): Promise<Buffer | null> {
  const most = { limit, owner }
  if (!letsLongOnesPass) return collect(asked.body, most)
  return (declaredLength(asked) ?? 0) > limit ? null : collectOrGiveBack(asked.body, most)
}

function declaredLength(asked: Inbound): number | null {
  const text = asked.header('content-length')
  return text === undefined ? null : Number(text)
}

/** The request as a stream that fails when more than `limit` bytes come, or bytes that may not pass. `watched` gets the passing bytes. */
function bounded(asked: Inbound, { owner, limit, watched, inspects }: Omit<OpenBody, 'length'>): Readable {
  const source = asked.body
  let size = 0
  const through = new PassThrough()
  const flow = flowOf(source)
  const pace = paceOf(owner, flow)
  const onData = (chunk: Buffer) => {
    size += chunk.length
    const fault = size > limit ? tooLarge(limit) : (faultIn(chunk, watched && ((piece) => watched.add(piece))) ?? faultIn(chunk, inspects))
    if (fault !== null) {
      through.destroy(fault)
      return
    }
    if (!through.write(chunk)) flow.pause()
    pace.took(chunk.length)
  }
  source.on('data', onData)
  if (source.isPaused()) source.resume() // Its beginning was read and put back.
  through.on('drain', () => flow.resume())
  // It may fail before a connection to the provider reads it; its later reader then gets the error.
  through.on('error', () => {})
  if (source.destroyed) through.destroy(clientGone())
  // When it is not read any more, the rest is thrown away, so that the client gets to read its answer.
  through.once('close', () => source.off('data', onData).resume())
  source.once('end', () => through.end())
  source.once('close', () => {
    if (!asked.complete) through.destroy(clientGone())
  })
  return through
}

/** A stream that several may stop: it goes on when each of them lets it. */
function flowOf(stream: Pausable): Pausable {
  let stops = 0
  return {
    pause() {
      stops += 1
      stream.pause()
    },
    resume() {
      stops -= 1
      if (stops === 0) stream.resume()
    },
  }
}

function faultIn(chunk: Buffer, inspects: BodyOptions['inspects']): Error | null {
  try {
    inspects?.(chunk)
    return null
  } catch (thrown) {
    return thrown instanceof Error ? thrown : new Error(String(thrown))
  }
}

/** Puts another model in the place of the old one in the original bytes: the rest of the caller's body stays unchanged. */
export function replaceModel(bytes: Buffer, from: string, to: string): Buffer {
  const text = bytes.toString('utf8')
  const model = JSON.stringify(to)
  let rest = 0
  let replaced = ''
  for (const [start, end] of topLevelValues(text, (key) => key === 'model')) {
    if (JSON.parse(text.slice(start, end)) !== from) continue
    replaced += text.slice(rest, start) + model
    rest = end
  }
  return Buffer.from(replaced + text.slice(rest))
}

/** Every string value of the keys on an object's own level that a test wants: JSON may hold a key twice. */
export function stringsOf(bytes: Buffer, isWanted: (key: string) => boolean): readonly string[] {
  const text = bytes.toString('utf8')
  return topLevelValues(text, isWanted).map(([start, end]) => String(JSON.parse(text.slice(start, end))))
}

/** Returns where the string values of the wanted keys stand in an object's own level; the text is JSON that was parsed before. */
function topLevelValues(text: string, isWanted: (key: string) => boolean): readonly (readonly [start: number, end: number])[] {
  const found: [number, number][] = []
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]
    if (char === '{' || char === '[') depth += 1
    else if (char === '}' || char === ']') depth -= 1
    else if (char === '"') {
      const end = stringEnd(text, at)
      const start = depth === 1 && isWanted(String(JSON.parse(text.slice(at, end)))) ? valueStart(text, end) : -1
      if (start !== -1) found.push([start, stringEnd(text, start)])
      at = end - 1
    }
  }
  return found
}

/** The index after the closing quote of the string that begins at `start`. */
function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); ; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text[at - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return at + 1
  }
}

/** Returns where the string value behind a key begins; -1 when the string was no key, or its value is no string. */
function valueStart(text: string, keyEnd: number): number {
  const rest = /\s*:\s*"/y
  rest.lastIndex = keyEnd
  return rest.test(text) ? rest.lastIndex - 1 : -1
}
