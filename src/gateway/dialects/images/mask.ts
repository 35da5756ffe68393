import { unreadable } from '../reading.ts'
import type { Loss } from '../neutral/loss.ts'
import type { SentImage } from './neutral.ts'
import { grayPng, opacityOf } from '../../wire/png.ts'

/**
 * Returns a mask of OpenAI's, whose transparent pixels are to be changed, as a picture in black and white. `white`: white is changed there;
 * `black`: black is. Throws `invalid_request` for a mask that cannot be read.
 */
export function maskAs(changed: 'white' | 'black', mask: SentImage): Buffer {
  const opacity = opacityOf(mask.bytes)
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
