import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { ApiError } from '../../lib/errors.ts'

/** Most bytes that a compressed answer may unfold to when we look into it. */
const maxUnfolded = 4 * 1024 * 1024
const limits = { maxOutputLength: maxUnfolded }

interface Coding {
  readonly unfold: (bytes: Buffer) => Buffer
  readonly fold: (bytes: Buffer) => Buffer
}

const gzip: Coding = { unfold: (bytes) => zlib.gunzipSync(bytes, limits), fold: (bytes) => zlib.gzipSync(bytes) }
const codings: Readonly<Record<string, Coding>> = {
  gzip,
  'x-gzip': gzip,
  br: { unfold: (bytes) => zlib.brotliDecompressSync(bytes, limits), fold: (bytes) => zlib.brotliCompressSync(bytes) },
  deflate: { unfold: (bytes) => zlib.inflateSync(bytes, limits), fold: (bytes) => zlib.deflateSync(bytes) },
  zstd: { unfold: (bytes) => zlib.zstdDecompressSync(bytes, limits), fold: (bytes) => zlib.zstdCompressSync(bytes) },
}

/** Bytes without their content encoding; empty when it is unknown, broken, or unfolds without end. */
export function unfold(bytes: Buffer, encoding: string): Buffer {
  try {
    return codings[encoding]?.unfold(bytes) ?? Buffer.alloc(0)
  } catch {
    return Buffer.alloc(0)
  }
}

/** Bytes in a content encoding; as they are when it is unknown. */
export const fold = (bytes: Buffer, encoding: string | undefined): Buffer => codings[encoding ?? '']?.fold(bytes) ?? bytes

type Unfolding = (bytes: Buffer, limits: { readonly maxOutputLength: number }) => Promise<Buffer>

const gunzip: Unfolding = promisify<Buffer, { readonly maxOutputLength: number }, Buffer>(zlib.gunzip)
/** Off the loop: what callers send may be large. */
const unfoldings: Readonly<Record<string, Unfolding>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  br: promisify<Buffer, { readonly maxOutputLength: number }, Buffer>(zlib.brotliDecompress),
  deflate: promisify<Buffer, { readonly maxOutputLength: number }, Buffer>(zlib.inflate),
  zstd: promisify<Buffer, { readonly maxOutputLength: number }, Buffer>(zlib.zstdDecompress),
}

/** Whether a request body in this content encoding is read; several on top of each other are not. */
export const canUnfold = (encoding: string): boolean => Object.hasOwn(unfoldings, encoding.toLowerCase())

/** The plain bytes of a request body. Throws `payload_too_large` for more than `limit` of them, and `invalid_request`. */
export async function unfoldRequest(bytes: Buffer, encoding: string, limit: number): Promise<Buffer> {
  try {
    return (await unfoldings[encoding.toLowerCase()]?.(bytes, { maxOutputLength: limit })) ?? bytes
  } catch (cause) {
    if (cause instanceof RangeError)
      throw new ApiError(
        'payload_too_large',
        `The request body unfolds to more than ${limit} bytes, the most that this installation takes.`,
        {
          param: 'body',
          cause,
        },
      )
    throw new ApiError('invalid_request', `The request body is not what content-encoding says: ${encoding}.`, {
      param: 'content-encoding',
      cause,
    })
  }
}
