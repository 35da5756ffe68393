import * as zlib from 'node:zlib'

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
