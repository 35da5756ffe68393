import { isUtf8 } from 'node:buffer'
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { parseJson } from '../../lib/json/json.ts'

export interface StoredBody {
  readonly bytes: Uint8Array | null
  readonly truncated: boolean
  /** The `content-encoding` it was sent with. */
  readonly contentEncoding: string | undefined
}

export interface BodyView {
  readonly body: unknown
  readonly body_encoding: 'json' | 'text' | 'base64' | null
  readonly body_truncated: boolean
}

/** Most bytes that a compressed body may become. */
const maxInflatedBytes = 8 * 1024 * 1024
const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH, ZSTD_e_flush: ZSTD_FLUSH } = zlib.constants

/** By content encoding; a body that was cut gives what can be read of it. */
const decoders: Readonly<Record<string, (bytes: Uint8Array) => Promise<Uint8Array>>> = {
  gzip: (bytes) => gunzip(bytes, { finishFlush: Z_SYNC_FLUSH, maxOutputLength: maxInflatedBytes }),
  'x-gzip': (bytes) => gunzip(bytes, { finishFlush: Z_SYNC_FLUSH, maxOutputLength: maxInflatedBytes }),
  deflate: (bytes) => inflate(bytes, { finishFlush: Z_SYNC_FLUSH, maxOutputLength: maxInflatedBytes }),
  br: (bytes) => brotli(bytes, { finishFlush: BROTLI_OPERATION_FLUSH, maxOutputLength: maxInflatedBytes }),
  zstd: (bytes) => zstd(bytes, { finishFlush: ZSTD_FLUSH, maxOutputLength: maxInflatedBytes }),
}
const gunzip = promisify<Uint8Array, zlib.ZlibOptions, Uint8Array>(zlib.gunzip)
const inflate = promisify<Uint8Array, zlib.ZlibOptions, Uint8Array>(zlib.inflate)
const brotli = promisify<Uint8Array, zlib.BrotliOptions, Uint8Array>(zlib.brotliDecompress)
const zstd = promisify<Uint8Array, zlib.ZstdOptions, Uint8Array>(zlib.zstdDecompress)

/** A stored body as a reader wants it: decompressed, as JSON when it is JSON, else as text, else as base64. */
export async function presentBody({ bytes, truncated, contentEncoding }: StoredBody): Promise<BodyView> {
  if (bytes === null) return { body: null, body_encoding: null, body_truncated: truncated }
  const plain = await decode(bytes, contentEncoding)
  const text = truncated ? withoutCutCharacter(plain) : plain
  if (!isUtf8(text)) return { body: Buffer.from(plain).toString('base64'), body_encoding: 'base64', body_truncated: truncated }
  const json = parsed(text)
  if (json !== undefined) return { body: json, body_encoding: 'json', body_truncated: truncated }
  return { body: Buffer.from(text).toString(), body_encoding: 'text', body_truncated: truncated }
}

/** The bytes as they are when they cannot be decoded within the bound. */
async function decode(bytes: Uint8Array, contentEncoding: string | undefined): Promise<Uint8Array> {
  const decoder = decoders[contentEncoding?.trim().toLowerCase() ?? '']
  if (decoder === undefined) return bytes
  try {
    return await decoder(bytes)
  } catch {
    return bytes
  }
}

/** Objects and arrays only: a bare number or word is shown as the text it was. Undefined: no JSON, or too deep to be sent on. */
function parsed(bytes: Uint8Array): unknown {
  const first = bytes.find((byte) => byte > 0x20)
  if (first !== 0x7b && first !== 0x5b) return undefined
  try {
    return parseJson(bytes)
  } catch {
    return undefined
  }
}

/** A cut may have gone through a character, whose first bytes are then dropped. */
function withoutCutCharacter(bytes: Uint8Array): Uint8Array {
  const start = bytes.findLastIndex((byte) => byte < 0x80 || byte >= 0xc0)
  const tail = bytes.subarray(Math.max(start, 0))
  return start !== -1 && tail.length < 4 && !isUtf8(tail) ? bytes.subarray(0, start) : bytes
}
