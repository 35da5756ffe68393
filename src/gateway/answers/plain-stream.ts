import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from 'node:zlib'
import { ApiError, toApiError } from '../../lib/errors.ts'
import { longBytes, longTurns } from '../../lib/shares/long-turns.ts'
import type { EgressCall, EgressHandler } from '../egress/egress.ts'
import { headersWithout, headerValue, type HeaderList } from '../wire/header-list.ts'
import { isStreamType } from './framing.ts'

/**
 * Makes a call whose answer is read here, so that it was asked for without compression. A stream that comes compressed all the same is
 * unfolded as it arrives; other answers go on as they come, because their readers unfold them whole. The end of such an answer, at which it is
 * read, waits for the turn of the owner when it is long.
 */
export function sendForPlain(owner: string, send: (handler: EgressHandler) => EgressCall, handler: EgressHandler): EgressCall {
  const call = new PlainStream(owner, handler)
  call.follow(send(call))
  return call
}

/** Decided by the first byte: some servers send raw deflate where HTTP means that of zlib, whose first byte always ends in eight. */
const decoders: Readonly<Record<string, (first: number) => Transform>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  br: () => createBrotliDecompress(),
  zstd: () => createZstdDecompress(),
  deflate: (first) => ((first & 0x0f) === 8 ? createInflate() : createInflateRaw()),
}

/** Headers that describe the bytes as they were sent. */
const ofBytes = new Set(['content-encoding', 'content-length', 'content-md5', 'content-digest', 'repr-digest', 'digest', 'etag'])

/** Texts of models shrink to a tenth. A stream that unfolds to so much more, beyond the first megabytes, is meant to fill memory. */
const mostRatio = 250
const freeBytes = 16 * 1024 * 1024

class PlainStream implements EgressHandler, EgressCall {
  readonly #owner: string
  readonly #handler: EgressHandler
  #call: EgressCall | null = null
  #makeDecoder: ((first: number) => Transform) | null = null
  #decoder: Transform | null = null
  #isPaused = false
  #isFull = false
  #isOver = false
  #isStream = false
  #read = 0
  #unfolded = 0
  #trailers: readonly string[] = []

  constructor(owner: string, handler: EgressHandler) {
    this.#owner = owner
    this.#handler = handler
  }

  follow(call: EgressCall): void {
    this.#call = call
    if (this.#isOver) call.abort()
    else if (this.#isPaused || this.#isFull) call.pause()
  }

  abort(): void {
    this.#isOver = true
    this.#decoder?.destroy()
    this.#call?.abort()
  }

  pause(): void {
    this.#isPaused = true
    this.#decoder?.pause()
    this.#call?.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#decoder?.resume()
    if (!this.#isFull) this.#call?.resume()
  }

  onInformation(status: number, rawHeaders: readonly string[]): void {
    this.#handler.onInformation?.(status, rawHeaders)
  }

  onHeaders(status: number, rawHeaders: HeaderList, statusMessage: string): void {
    this.#isStream = isStream(status, rawHeaders)
    this.#makeDecoder = this.#isStream ? decoderOf(rawHeaders) : null
    const left = this.#makeDecoder === null ? rawHeaders : headersWithout(rawHeaders, (name) => ofBytes.has(name))
    this.#handler.onHeaders(status, left, statusMessage)
  }

  onData(chunk: Buffer): void {
    this.#read += chunk.length
    if (this.#makeDecoder === null) return this.#handler.onData(chunk)
    if (chunk.length === 0 || this.#isOver) return
    this.#decoder ??= this.#open(this.#makeDecoder(chunk[0] ?? 0))
    if (this.#decoder.write(chunk)) return
    this.#isFull = true
    this.#call?.pause()
  }

  onEnd(trailers: readonly string[]): void {
    if (this.#decoder === null) return this.#endPlain(trailers)
    this.#trailers = trailers
    this.#decoder.end()
  }

  #endPlain(trailers: readonly string[]): void {
    if (this.#isStream || this.#read <= longBytes) this.#handler.onEnd(trailers)
    else void this.#endInTurn(trailers)
  }

  async #endInTurn(trailers: readonly string[]): Promise<void> {
    await longTurns.take(this.#owner, { isWanted: () => !this.#isOver })
    if (this.#isOver) return
    try {
      this.#handler.onEnd(trailers)
    } catch (thrown) {
      this.onError(toApiError(thrown))
    }
  }

  onError(error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#decoder?.destroy()
    this.#handler.onError(error)
  }

  #open(decoder: Transform): Transform {
    decoder.on('data', (bytes: Buffer) => this.#give(bytes))
    decoder.on('drain', () => this.#drained())
    decoder.on('end', () => {
      if (this.#isOver) return
      this.#isOver = true
      this.#handler.onEnd(this.#trailers)
    })
    decoder.on('error', () => this.#fail('The provider sent a compressed stream that is broken.'))
    if (this.#isPaused) decoder.pause()
    return decoder
  }

  #give(bytes: Buffer): void {
    if (this.#isOver) return
    this.#unfolded += bytes.length
    if (this.#unfolded > freeBytes && this.#unfolded > this.#read * mostRatio)
      return this.#fail('The provider sent a compressed stream that unfolds to too many bytes.')
    this.#handler.onData(bytes)
  }

  #drained(): void {
    this.#isFull = false
    if (!this.#isPaused && !this.#isOver) this.#call?.resume()
  }

  #fail(message: string): void {
    if (this.#isOver) return
    this.abort()
    this.#handler.onError(new ApiError('upstream_bad_response', message))
  }
}

const isStream = (status: number, rawHeaders: HeaderList): boolean =>
  status >= 200 && status <= 299 && isStreamType(headerValue(rawHeaders, 'content-type')?.toLowerCase() ?? '')

/** Returns the decoder of a stream; null: it is not encoded. */
function decoderOf(rawHeaders: HeaderList): ((first: number) => Transform) | null {
  const encoding = headerValue(rawHeaders, 'content-encoding')?.trim().toLowerCase()
  return encoding !== undefined && Object.hasOwn(decoders, encoding) ? (decoders[encoding] ?? null) : null
}
