import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { readCounts } from '../google/counts.ts'
import { saidFields, saidList, saidText } from '../reading.ts'
import type { ImageProvider, MadeImage } from './neutral.ts'
import { base64Of, onlyImage } from './mask.ts'
import { ratioFor } from './shapes.ts'

const geminiRatios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9']
const imagenRatios = ['1:1', '3:4', '4:3', '9:16', '16:9']

/** ai.google.dev/gemini-api/docs/image-generation: a turn whose answer is one image; pictures that are to be changed stand before the prompt. */
export const gemini: ImageProvider = {
  most: 1,
  takes: [],
  encode({ prompt, size, images }, { loss }) {
    const aspectRatio = ratioFor(size, geminiRatios, loss)
    const pictures = images.map(({ bytes, mediaType }) => ({ inlineData: { mimeType: mediaType, data: bytes.toString('base64') } }))
    return {
      json: {
        contents: [{ role: 'user', parts: [...pictures, { text: prompt }] }],
        generationConfig: { responseModalities: ['TEXT', 'IMAGE'], ...(aspectRatio !== null && { imageConfig: { aspectRatio } }) },
      },
    }
  },
  decode({ json }) {
    if (!isFields(json)) return null
    const [candidate = null] = saidList(json, 'candidates')
    const blocked = saidText(saidFields(json, 'promptFeedback') ?? {}, 'blockReason')
    if (candidate === null && blocked === null) return null
    const images = candidate === null ? [] : imagesOf(candidate)
    const counts = saidFields(json, 'usageMetadata')
    const refused = images.length > 0 ? null : (blocked ?? reasonOf(candidate ?? {}))
    return { images, refused, usage: counts === null ? null : readCounts(counts) }
  },
}

const imagesOf = (candidate: Fields): readonly MadeImage[] =>
  saidList(saidFields(candidate, 'content') ?? {}, 'parts').flatMap((part) => {
    const data = saidText(saidFields(part, 'inlineData') ?? {}, 'data')
    return data === null ? [] : [{ base64: data }]
  })

const reasonOf = (candidate: Fields): string => saidText(candidate, 'finishMessage') ?? saidText(candidate, 'finishReason') ?? 'no image'

/** cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api. */
export const imagen: ImageProvider = {
  most: 4,
  takes: ['outputFormat', 'seed'],
  encode({ prompt, count, size, outputFormat, seed }, { loss }) {
    const aspectRatio = ratioFor(size, imagenRatios, loss)
    // Images with a mark in them have no seed.
    const seeded = seed !== null && { seed, addWatermark: false }
    return {
      json: {
        instances: [{ prompt }],
        parameters: {
          sampleCount: count,
          ...(aspectRatio !== null && { aspectRatio }),
          ...(outputFormat !== null && { outputOptions: { mimeType: `image/${outputFormat}` } }),
          ...seeded,
        },
      },
    }
  },
  decode({ json }) {
    if (!isFields(json)) return null
    const found = saidList(json, 'predictions')
    const images = found.flatMap((one): readonly MadeImage[] => {
      const [data, prompt] = [saidText(one, 'bytesBase64Encoded'), saidText(one, 'prompt')]
      return data === null ? [] : [{ base64: data, ...(prompt !== null && { prompt }) }]
    })
    const reason = found.map((one) => saidText(one, 'raiFilteredReason')).find((one) => one !== null) ?? 'no image'
    return { images, refused: images.length === 0 ? reason : null, usage: null }
  },
}

/** docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api-edit: the picture and its mask are references. */
export const imagenEdit: ImageProvider = {
  ...imagen,
  takesMask: true,
  encode({ prompt, count, size, outputFormat, seed, images, mask }, { loss }) {
    if (size !== null) loss.dropAt('size')
    const image = {
      referenceType: 'REFERENCE_TYPE_RAW',
      referenceId: 1,
      referenceImage: { bytesBase64Encoded: base64Of(onlyImage(images, loss)) },
    }
    const masked = mask !== null && {
      referenceType: 'REFERENCE_TYPE_MASK',
      referenceId: 2,
      referenceImage: { bytesBase64Encoded: mask.as('white').toString('base64') },
      maskImageConfig: { maskMode: 'MASK_MODE_USER_PROVIDED' },
    }
    return {
      json: {
        instances: [{ prompt, referenceImages: masked === false ? [image] : [image, masked] }],
        parameters: {
          sampleCount: count,
          editMode: masked === false ? 'EDIT_MODE_DEFAULT' : 'EDIT_MODE_INPAINT_INSERTION',
          ...(outputFormat !== null && { outputOptions: { mimeType: `image/${outputFormat}` } }),
          ...(seed !== null && { seed, addWatermark: false }),
        },
      },
    }
  },
}
