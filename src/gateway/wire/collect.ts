import type { Readable } from 'node:stream'
import { ByteList } from '../../lib/collections/byte-list.ts'
import { ApiError } from '../../lib/errors.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import { paceOf } from '../../lib/shares/pace.ts'

export const tooLarge = (limit: number) =>
  new ApiError('payload_too_large', `The request body is larger than ${limit} bytes, the most that this installation takes.`, {
    param: 'body',
  })

/** The most bytes that are collected, and the organisation for which. */
interface Most {
  readonly limit: number
  readonly owner: string
}

export const collect = (source: Readable, most: Most): Promise<Buffer> =>
  collected(source, most, { whole: (bytes) => bytes, overflow: refuseLong })

export function refuseLong(held: ByteList, limit: number): never {
  held.clear()
  throw tooLarge(limit)
}

/** Collects a body. If it turns out to be too long, the bytes that were read are put back, so that it can be read as a stream. */
export const collectOrGiveBack = (source: Readable, most: Most): Promise<Buffer | null> =>
  collected<Buffer | null>(source, most, {
    whole: (bytes) => bytes,
    overflow(held) {
      source.pause()
      source.unshift(held.join())
      return null
    },
  })

/** Makes a result of bytes; an error of it rejects. */
interface BodyMaker<T> {
  whole(bytes: Buffer): MaybePromise<T>
  /** Takes the held bytes of a body that is too long. */
  overflow(held: ByteList, limit: number): T
}

/** Collects a body, in one promise: one is made for every request. */
export function collected<T>(source: Readable, { limit, owner }: Most, made: BodyMaker<T>): Promise<T> {
  if (source.destroyed) return Promise.reject(clientGone())
  return new Promise((resolve, reject) => {
    const bytes = new ByteList()
    const pace = paceOf(owner, source)
    // The first settlement counts; a listener that fires later finds the promise settled and has no effect.
    let settled = false
    const settle = (make: () => MaybePromise<T>) => {
      if (settled) return
      settled = true
      pace.end()
      try {
        resolve(make())
      } catch (error) {
        reject(error)
      }
    }
    const onData = (chunk: Buffer) => {
      if (settled) return
      bytes.push(chunk)
      if (bytes.size > limit) settle(() => made.overflow(bytes, limit))
      else pace.took(chunk.length)
    }
    source.on('data', onData)
    source.on('end', () => settle(() => made.whole(bytes.join())))
    const onGone = () => {
      if (settled) return
      settled = true
      reject(clientGone())
    }
    source.on('close', onGone)
    source.on('error', onGone)
    if (source.isPaused()) source.resume() // Its beginning was read and put back.
  })
}

/** Returns the error of a request whose body broke off. */
export const clientGone = (): ApiError => new ApiError('client_closed', 'The client left before it had sent the whole request.')
