import { unreadable } from '../reading.ts'
import type { Loss } from '../neutral/loss.ts'
import type { SentFile } from '../tasks/task.ts'
import type { Mask, SentImage } from './neutral.ts'
import { grayPng, opacityOf } from '../../wire/png.ts'

/** Returns a function that makes a value on its first call, and keeps it: a request may take many calls, each of which asks. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null
  return () => (made ??= { value: make() }).value
}

/** Returns a picture of a form. */
export const readImage = ({ bytes, mediaType }: SentFile): SentImage => ({
  bytes,
  mediaType,
  hasGaps: once(() => opacityOf(bytes)?.pixels.includes(0) === true),
})

/** Returns a mask of OpenAI's, whose transparent pixels are to be changed. */
export function readMask({ bytes }: SentFile): Mask {
  const [white, black] = [once(() => paint('white', bytes)), once(() => paint('black', bytes))]
  return { as: (changed) => (changed === 'white' ? white() : black()) }
}

/** Throws `invalid_request` for a mask that cannot be read. */
function paint(changed: 'white' | 'black', bytes: Buffer): Buffer {
  const opacity = opacityOf(bytes)
  if (opacity === null)
    throw unreadable('mask', 'a PNG with a channel for opacity (8 or 16 bits, not interlaced), of at most 2048 x 2048 pixels')
  const [change, keep] = changed === 'white' ? [255, 0] : [0, 255]
  return grayPng(
    opacity,
    opacity.pixels.map((alpha) => (alpha < 128 ? change : keep)),
  )
}

/** Returns the one picture that is changed. Refuses more of them. */
export function onlyImage(images: readonly SentImage[], loss: Loss): SentImage {
  const [image, ...more] = images
  if (image === undefined) throw unreadable('image', 'a file')
  if (more.length > 0) loss.refuseAt('image', 'holds several images, and this provider takes one')
  return image
}

export const base64Of = ({ bytes }: Pick<SentImage, 'bytes'>): string => bytes.toString('base64')
