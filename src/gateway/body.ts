import type { IncomingMessage } from 'node:http'
import { PassThrough, type Readable } from 'node:stream'
import { ApiError } from '../lib/errors.ts'
import { parseJson } from '../lib/json.ts'

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
}

export interface BodyOptions {
  readonly contentType: string
  readonly contentEncoding: string | undefined
  readonly maxJsonBytes: number
  readonly maxUploadBytes: number
  /** Hold even an opaque body, because the credential signs its bytes. */
  readonly hold: boolean
}

const none: RequestBody = { kind: 'none', bytes: null, json: undefined, stream: null, length: null }
const jsonType = /^application\/(?:[\w.+-]+\+)?json\b/i

/** Whether a content type is JSON, `+json` types included. */
export const isJsonType = (contentType: string): boolean => contentType === 'application/json' || jsonType.test(contentType)

/** Reads (JSON) or opens (all else) the body of a request. Throws `payload_too_large`, `invalid_request`, `client_closed`. */
export async function readBody(req: IncomingMessage, options: BodyOptions): Promise<RequestBody> {
  const length = declaredLength(req)
  if (length === 0 || (length === null && req.headers['transfer-encoding'] === undefined)) return none
  const json = isJsonType(options.contentType) && options.contentEncoding === undefined
  const limit = json ? options.maxJsonBytes : options.maxUploadBytes
  if (length !== null && length > limit) throw tooLarge(limit)
  if (json) {
    const bytes = await collect(req, limit)
    return bytes.length === 0 ? none : { kind: 'json', bytes, json: parseJson(bytes), stream: null, length: bytes.length }
  }
  if (options.hold) {
    const bytes = await collect(req, Math.min(limit, options.maxJsonBytes))
    return { kind: 'bytes', bytes, json: undefined, stream: null, length: bytes.length }
  }
  return { kind: 'stream', bytes: null, json: undefined, stream: bounded(req, limit), length }
}

function declaredLength(req: IncomingMessage): number | null {
  const text = req.headers['content-length']
  return text === undefined ? null : Number(text)
}

const tooLarge = (limit: number) =>
  new ApiError('payload_too_large', `The request body is larger than ${limit} bytes, the most that this installation takes.`, {
    param: 'body',
  })

function collect(req: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    // What settles first counts; a listener that fires later finds the promise settled and makes nothing.
    let settled = false
    req.on('data', (chunk: Buffer) => {
      if (settled) return
      size += chunk.length
      chunks.push(chunk)
      if (size <= limit) return
      settled = true
      chunks.length = 0
      reject(tooLarge(limit))
    })
    req.on('end', () => {
      if (settled) return
      settled = true
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size))
    })
    const onGone = () => {
      if (settled) return
      settled = true
      reject(clientGone())
    }
    req.on('close', onGone)
    req.on('error', onGone)
  })
}

const clientGone = () => new ApiError('client_closed', 'The client left before it had sent the whole request.')

/** The request as a stream that fails when more than `limit` bytes come. */
function bounded(req: IncomingMessage, limit: number): Readable {
  let size = 0
  const through = new PassThrough()
  req.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > limit) through.destroy(tooLarge(limit))
    else if (!through.write(chunk)) req.pause()
  })
  through.on('drain', () => req.resume())
  req.once('end', () => through.end())
  req.once('close', () => {
    if (!req.complete) through.destroy(clientGone())
  })
  return through
}

/** Replaces the model in the original bytes, so that nothing else of the caller's body changes. */
export function replaceModel(bytes: Buffer, json: Readonly<Record<string, unknown>>, model: string): Buffer {
  const text = bytes.toString('utf8')
  const named = JSON.stringify(json['model'])
  const places = [...placesOf(text, named)]
  const [at] = places
  if (places.length !== 1 || at === undefined) return Buffer.from(JSON.stringify({ ...json, model }))
  return Buffer.from(text.slice(0, at) + JSON.stringify(model) + text.slice(at + named.length))
}

/** Where `named` stands as the value of a field `model`. No pattern of the caller's text: it may be megabytes long. */
function* placesOf(text: string, named: string): Generator<number> {
  for (let at = text.indexOf(named); at !== -1; at = text.indexOf(named, at + named.length))
    if (/"model"\s*:\s*$/.test(text.slice(Math.max(0, at - 64), at))) yield at
}
