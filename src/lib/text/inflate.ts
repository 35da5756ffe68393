import { promisify } from 'node:util'
import zlib from 'node:zlib'

/** Most bytes that a compressed body may become. */
const maxInflatedBytes = 8 * 1024 * 1024
const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH, ZSTD_e_flush: ZSTD_FLUSH } = zlib.constants

interface Inflater {
  readonly now: (bytes: Uint8Array) => Uint8Array
  readonly later: (bytes: Uint8Array) => Promise<Uint8Array>
}

/** A body that was cut is inflated as far as it goes. */
const bounds = (finishFlush: number) => ({ finishFlush, maxOutputLength: maxInflatedBytes })
const gunzip = promisify<Uint8Array, zlib.ZlibOptions, Uint8Array>(zlib.gunzip)
const inflate = promisify<Uint8Array, zlib.ZlibOptions, Uint8Array>(zlib.inflate)
const brotli = promisify<Uint8Array, zlib.BrotliOptions, Uint8Array>(zlib.brotliDecompress)
const zstd = promisify<Uint8Array, zlib.ZstdOptions, Uint8Array>(zlib.zstdDecompress)

const gzipped: Inflater = {
  now: (bytes) => zlib.gunzipSync(bytes, bounds(Z_SYNC_FLUSH)),
  later: (bytes) => gunzip(bytes, bounds(Z_SYNC_FLUSH)),
}

/** The inflaters by content encoding. */
const inflaters: Readonly<Record<string, Inflater>> = {
  gzip: gzipped,
  'x-gzip': gzipped,
  deflate: { now: (bytes) => zlib.inflateSync(bytes, bounds(Z_SYNC_FLUSH)), later: (bytes) => inflate(bytes, bounds(Z_SYNC_FLUSH)) },
  br: {
    now: (bytes) => zlib.brotliDecompressSync(bytes, bounds(BROTLI_OPERATION_FLUSH)),
    later: (bytes) => brotli(bytes, bounds(BROTLI_OPERATION_FLUSH)),
  },
  zstd: { now: (bytes) => zlib.zstdDecompressSync(bytes, bounds(ZSTD_FLUSH)), later: (bytes) => zstd(bytes, bounds(ZSTD_FLUSH)) },
}

const inflaterOf = (contentEncoding: string | undefined): Inflater | undefined => inflaters[contentEncoding?.trim().toLowerCase() ?? '']

/** Returns a body as it was before its content encoding: the bytes as they are when they cannot be decoded within the bound. */
export async function inflated(bytes: Uint8Array, contentEncoding: string | undefined): Promise<Uint8Array> {
  try {
    return (await inflaterOf(contentEncoding)?.later(bytes)) ?? bytes
  } catch {
    return bytes
  }
}

/** Returns the same at once, for a thread whose delay blocks no request. */
export function inflatedNow(bytes: Uint8Array, contentEncoding: string | undefined): Uint8Array {
  try {
    return inflaterOf(contentEncoding)?.now(bytes) ?? bytes
  } catch {
    return bytes
  }
}
