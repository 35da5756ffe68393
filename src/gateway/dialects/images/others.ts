import { isFields } from '../../../lib/json/fields.ts'
import { saidFields, saidText } from '../reading.ts'
import { type SentField, writeForm } from '../../wire/write-form.ts'
import type { ImageProvider, ImageRequest } from './neutral.ts'
import { drawnBytes } from './hosts.ts'
import { onlyImage } from './mask.ts'
import { ratioFor } from './shapes.ts'

const ratios = ['16:9', '1:1', '21:9', '2:3', '3:2', '4:5', '5:4', '9:16', '9:21']

/** platform.stability.ai/docs/api-reference: a form, one image. The path names the service, and the form a model of it. */
export const stability: ImageProvider = {
  most: 1,
  takes: ['outputFormat', 'style', 'seed'],
  headers: ['accept', 'application/json'],
  encode({ prompt, size, outputFormat, style, seed }, { model, loss }) {
    const ratio = ratioFor(size, ratios, loss)
    const fields: readonly (readonly [name: string, value: string | null])[] = [
      ['prompt', prompt],
      ['model', model.startsWith('sd3') ? model : null],
      ['aspect_ratio', ratio],
      ['output_format', outputFormat],
      ['style_preset', style],
      ['seed', seed === null ? null : String(seed)],
    ]
    return writeForm(fields.flatMap(([name, value]): readonly SentField[] => (value === null ? [] : [{ name, value }])))
  },
  decode({ json }) {
    if (!isFields(json)) return null
    const image = saidText(json, 'image')
    const isFiltered = saidText(json, 'finish_reason') === 'CONTENT_FILTERED'
    if (image === null && !isFiltered) return null
    return { images: image === null || isFiltered ? [] : [{ base64: image }], refused: isFiltered ? 'CONTENT_FILTERED' : null, usage: null }
  },
}

/** Returns true if a part of the picture is changed: that of the mask, or the transparent part of the picture itself. */
const changesPart = ({ images, mask }: ImageRequest): boolean => mask !== null || images[0]?.hasGaps() === true

/** How much of a picture is drawn anew if all of it is changed: Stability asks for it, and OpenAI has no field for it. */
const strength = '0.7'

/** platform.stability.ai/docs/api-reference, edit: a part of a picture is drawn anew, or the whole of it by a model that takes one. */
export const stabilityEdit: ImageProvider = {
  ...stability,
  takesMask: true,
  suffix: (request) => (changesPart(request) ? '/edit/inpaint' : '/generate/sd3'),
  encode(request, { model, loss }) {
    const { prompt, size, outputFormat, style, seed, images, mask } = request
    const { bytes, mediaType } = onlyImage(images, loss)
    if (size !== null) loss.dropAt('size')
    const isPart = changesPart(request)
    if (!isPart) loss.note(`strength=${strength}`)
    const fields: readonly (readonly [name: string, value: string | null])[] = [
      ['prompt', prompt],
      ['model', !isPart && model.startsWith('sd3') ? model : null],
      ['mode', isPart ? null : 'image-to-image'],
      ['strength', isPart ? null : strength],
      ['output_format', outputFormat],
      ['style_preset', style],
      ['seed', seed === null ? null : String(seed)],
    ]
    const files: readonly SentField[] = [
      { name: 'image', value: { filename: 'image', mediaType, bytes } },
      ...(mask === null ? [] : [{ name: 'mask', value: { filename: 'mask.png', mediaType: 'image/png', bytes: mask.as('white') } }]),
    ]
    return writeForm([...fields.flatMap(([name, value]): readonly SentField[] => (value === null ? [] : [{ name, value }])), ...files])
  },
}

/** huggingface.co/docs/inference-providers/tasks/text-to-image: the answer is the image itself. */
export const huggingface: ImageProvider = {
  most: 1,
  takes: ['seed'],
  encode({ prompt, size, seed }) {
    const parameters = { ...(size !== null && { width: size.width, height: size.height }), ...(seed !== null && { seed }) }
    return { json: { inputs: prompt, ...(Object.keys(parameters).length > 0 && { parameters }) } }
  },
  decode: drawnBytes,
}

/** developers.cloudflare.com/workers-ai/models: some models answer with JSON, others with the image itself. */
export const workersAi: ImageProvider = {
  most: 1,
  takes: ['seed'],
  encode: ({ prompt, size, seed }) => ({
    json: { prompt, ...(size !== null && { width: size.width, height: size.height }), ...(seed !== null && { seed }) },
  }),
  decode(answer) {
    const image = isFields(answer.json) ? saidText(saidFields(answer.json, 'result') ?? {}, 'image') : null
    return image === null ? drawnBytes(answer) : { images: [{ base64: image }], refused: null, usage: null }
  },
}
