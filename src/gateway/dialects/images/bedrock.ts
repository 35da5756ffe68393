import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { saidText } from '../reading.ts'
import type { ImageAnswer, ImageProvider, ImageRequest } from './neutral.ts'
import type { Loss } from '../neutral/loss.ts'
import { base64Of, onlyImage } from './mask.ts'
import { ratioFor } from './shapes.ts'

/** OpenAI's words for quality. */
const qualities: Readonly<Record<string, string>> = {
  standard: 'standard',
  low: 'standard',
  medium: 'standard',
  hd: 'premium',
  high: 'premium',
}

/** docs.aws.amazon.com/nova/latest/userguide/image-gen-req-resp-structure.html: Titan and Nova Canvas. A picture with a prompt is a variation of it. */
export const canvas: ImageProvider = {
  most: 5,
  takes: ['quality', 'seed'],
  takesMask: true,
  encode(request, { loss }) {
    const { count, size, quality, seed } = request
    const word = quality !== null && Object.hasOwn(qualities, quality) ? qualities[quality] : undefined
    if (quality !== null && quality !== 'auto' && word === undefined) loss.dropAt('quality', 'is none of standard and premium there')
    return {
      json: {
        ...taskOf(request, loss),
        imageGenerationConfig: {
          numberOfImages: count,
          ...(size !== null && { width: size.width, height: size.height }),
          ...(word !== undefined && { quality: word }),
          ...(seed !== null && { seed }),
        },
      },
    }
  },
  decode({ json }) {
    const error = isFields(json) ? saidText(json, 'error') : null
    return readImages(json, error)
  },
}

function taskOf({ prompt, images, mask }: ImageRequest, loss: Loss): Fields {
  if (images.length === 0) return { taskType: 'TEXT_IMAGE', textToImageParams: { text: prompt } }
  if (mask !== null) {
    const [image, maskImage] = [base64Of(onlyImage(images, loss)), mask.as('black').toString('base64')]
    return { taskType: 'INPAINTING', inPaintingParams: { image, maskImage, ...(prompt !== '' && { text: prompt }) } }
  }
  const pictures = images.map(base64Of)
  return { taskType: 'IMAGE_VARIATION', imageVariationParams: { ...(prompt !== '' && { text: prompt }), images: pictures } }
}

const ratios = ['16:9', '1:1', '21:9', '2:3', '3:2', '4:5', '5:4', '9:16', '9:21']

/** docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-stability-diffusion.html. */
export const stabilityOnBedrock: ImageProvider = {
  most: 1,
  takes: ['outputFormat', 'seed'],
  encode({ prompt, size, outputFormat, seed }, { loss }) {
    const ratio = ratioFor(size, ratios, loss)
    return {
      json: {
        prompt,
        ...(ratio !== null && { aspect_ratio: ratio }),
        ...(outputFormat !== null && { output_format: outputFormat }),
        ...(seed !== null && { seed }),
      },
    }
  },
  decode({ json }) {
    const reasons: readonly unknown[] = isFields(json) && Array.isArray(json['finish_reasons']) ? json['finish_reasons'] : []
    const reason = reasons.find((one) => typeof one === 'string')
    return readImages(json, typeof reason === 'string' ? reason : null)
  },
}

/**
 * docs.aws.amazon.com/bedrock/latest/userguide/stable-image-services.html: a part of a picture is drawn anew; without a mask its own opacity decides
 * which.
 */
export const inpaintOnBedrock: ImageProvider = {
  ...stabilityOnBedrock,
  takes: ['outputFormat', 'seed', 'style'],
  takesMask: true,
  encode({ prompt, size, outputFormat, seed, style, images, mask }, { loss }) {
    if (size !== null) loss.dropAt('size')
    return {
      json: {
        prompt,
        image: base64Of(onlyImage(images, loss)),
        ...(mask !== null && { mask: mask.as('white').toString('base64') }),
        ...(outputFormat !== null && { output_format: outputFormat }),
        ...(style !== null && { style_preset: style }),
        ...(seed !== null && { seed }),
      },
    }
  },
}

/** Reads the pictures of an answer. */
function readImages(json: unknown, error: string | null): ImageAnswer | null {
  if (!isFields(json) || (!Array.isArray(json['images']) && error === null)) return null
  const found: readonly unknown[] = Array.isArray(json['images']) ? json['images'] : []
  const images = found.flatMap((one) => (typeof one === 'string' && one !== '' ? [{ base64: one }] : []))
  return { images, refused: images.length === 0 ? (error ?? 'no image') : null, usage: null }
}
