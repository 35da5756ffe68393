import { isFields } from '../../../lib/json/fields.ts'
import { saidText } from '../reading.ts'
import { untilEnded, urlsOf, withBytes } from '../replicate/steps.ts'
import { versionFields } from '../replicate/version.ts'
import type { ImageProvider } from './neutral.ts'
import { ratioFor } from './shapes.ts'

const ratios = ['1:1', '16:9', '21:9', '3:2', '2:3', '4:5', '5:4', '3:4', '4:3', '9:16', '9:21']
const formats: Readonly<Record<string, string>> = { png: 'png', jpeg: 'jpg', webp: 'webp' }

/** The field in which models take the pictures that they change, and whether it is a list. */
const pictureFields: readonly (readonly [models: RegExp, field: string, isList: boolean])[] = [
  [/nano-banana|seedream/, 'image_input', true],
  [/gpt-image/, 'input_images', true],
  [/kontext/, 'input_image', false],
]

function pictureField(model: string): readonly [field: string, isList: boolean] {
  const [, field = 'image', isList = false] = pictureFields.find(([models]) => models.test(model)) ?? []
  return [field, isList]
}

/** replicate.com/docs/reference/http: one image for each prediction. Pictures that are changed go as their bytes. */
export const replicate: ImageProvider = {
  most: 1,
  takes: ['outputFormat', 'seed'],
  takesMask: true,
  steps: (asUrl) => (asUrl ? untilEnded : withBytes),
  headers: ['prefer', 'wait=10'],
  encode({ prompt, size, outputFormat, seed, images, mask }, { model, loss }) {
    const ratio = ratioFor(size, ratios, loss)
    const pictures = images.map(({ bytes, mediaType }) => `data:${mediaType};base64,${bytes.toString('base64')}`)
    const [field, isList] = mask === null ? pictureField(model) : (['image', false] as const)
    if (pictures.length > 1 && !isList) loss.refuseAt('image', 'holds several images, and this model takes one')
    return {
      json: {
        ...versionFields(model),
        input: {
          prompt,
          ...(pictures.length > 0 && { [field]: isList ? pictures : pictures[0] }),
          ...(mask !== null && { mask: `data:image/png;base64,${mask.as('white').toString('base64')}` }),
          ...(ratio !== null && { aspect_ratio: ratio }),
          ...(outputFormat !== null && { output_format: formats[outputFormat] ?? outputFormat }),
          ...(seed !== null && { seed }),
        },
      },
    }
  },
  decode({ json, contentType, bytes }) {
    if (contentType.startsWith('image/')) return { images: [{ base64: bytes.toString('base64') }], refused: null, usage: null }
    if (!isFields(json)) return null
    const status = saidText(json, 'status')
    if (status !== 'succeeded') return status === null ? null : { images: [], refused: saidText(json, 'error') ?? status, usage: null }
    const urls = urlsOf(json)
    return { images: urls.map((url) => imageAt(url)), refused: urls.length === 0 ? 'no image' : null, usage: null }
  },
}

/** An address may hold the bytes themselves. */
function imageAt(url: string): { readonly base64: string } | { readonly url: string } {
  const [, base64 = null] = /^data:image\/[\w.+-]+;base64,(.+)$/.exec(url) ?? []
  return base64 === null ? { url } : { base64 }
}
