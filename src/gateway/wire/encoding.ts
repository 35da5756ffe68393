import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { ApiError } from '../../lib/errors.ts'

/** The most bytes that a compressed answer may decompress to when we look into it. */
const maxDecompressed = 4 * 1024 * 1024
const limits = { maxOutputLength: maxDecompressed }

interface Codec {
  readonly decompress: (bytes: Buffer) => Buffer
  readonly compress: (bytes: Buffer) => Buffer
}

const gzip: Codec = { decompress: (bytes) => zlib.gunzipSync(bytes, limits), compress: (bytes) => zlib.gzipSync(bytes) }
const codings: Readonly<Record<string, Codec>> = {
  gzip,
  'x-gzip': gzip,
  br: { decompress: (bytes) => zlib.brotliDecompressSync(bytes, limits), compress: (bytes) => zlib.brotliCompressSync(bytes) },
  deflate: { decompress: (bytes) => zlib.inflateSync(bytes, limits), compress: (bytes) => zlib.deflateSync(bytes) },
  zstd: { decompress: (bytes) => zlib.zstdDecompressSync(bytes, limits), compress: (bytes) => zlib.zstdCompressSync(bytes) },
}

/** Bytes without their content encoding; empty when it is unknown, broken, or decompresses to too many bytes. */
export function decompress(bytes: Buffer, encoding: string): Buffer {
  try {
    return codings[encoding]?.decompress(bytes) ?? Buffer.alloc(0)
  } catch {
    return Buffer.alloc(0)
  }
}

/** Bytes in a content encoding; as they are when it is unknown. */
export const compress = (bytes: Buffer, encoding: string | undefined): Buffer => codings[encoding ?? '']?.compress(bytes) ?? bytes

type Decompress = (bytes: Buffer, limits: { readonly maxOutputLength: number }) => Promise<Buffer>

const gunzip: Decompress = promisify<Buffer, { readonly maxOutputLength: number }, Buffer>(zlib.gunzip)
/** Off the loop: bodies of callers may be large. */
const decompressors: Readonly<Record<string, Decompress>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  br: promisify<Buffer, { readonly maxOutputLength: number }, Buffer>(zlib.brotliDecompress),
  deflate: promisify<Buffer, { readonly maxOutputLength: number }, Buffer>(zlib.inflate),
  zstd: promisify<Buffer, { readonly maxOutputLength: number }, Buffer>(zlib.zstdDecompress),
}

/** Returns whether a request body in this content encoding is read; several on top of each other are not. */
export const canDecompress = (encoding: string): boolean => Object.hasOwn(decompressors, encoding.toLowerCase())

/** The plain bytes of a request body. Throws `payload_too_large` for more than `limit` of them, and `invalid_request`. */
export async function decompressRequest(bytes: Buffer, encoding: string, limit: number): Promise<Buffer> {
  try {
    return (await decompressors[encoding.toLowerCase()]?.(bytes, { maxOutputLength: limit })) ?? bytes
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
    throw new ApiError('invalid_request', `The request body is not encoded as content-encoding states: ${encoding}.`, {
      param: 'content-encoding',
      cause,
    })
  }
}
