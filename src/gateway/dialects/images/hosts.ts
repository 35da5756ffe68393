import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { Loss } from '../neutral/loss.ts'
import { countOf, noUsage, type TokenUsage } from '../neutral/token-usage.ts'
import { saidFields, saidList, saidText } from '../reading.ts'
import type { TaskAnswer } from '../tasks/task.ts'
import type { ImageAnswer, ImageProvider, MadeImage, Size } from './neutral.ts'
import { ratioFor } from './shapes.ts'

const dataUrl = /^data:image\/[\w.+-]+;base64,/

/** Returns an image of which an answer gives the bytes, plain or in an address, or the place. */
const imageOf = (text: string): MadeImage => (/^https?:\/\//.test(text) ? { url: text } : { base64: text.replace(dataUrl, '') })

const made = (...images: readonly MadeImage[]): ImageAnswer => ({ images, refused: null, usage: null })

/** Returns the answer that is the image itself; null: it is something else. */
export const drawnBytes = ({ contentType, bytes }: TaskAnswer): ImageAnswer | null =>
  contentType.startsWith('image/') ? made({ base64: bytes.toString('base64') }) : null

const fireworksRatios = ['1:1', '21:9', '16:9', '3:2', '5:4', '4:5', '2:3', '9:16', '9:21', '4:3', '3:4']

/** docs.fireworks.ai/api-reference/generate-a-new-image-from-a-text-prompt: as JSON, which alone shows that a filter kept an image back. */
export const fireworks: ImageProvider = {
  most: 1,
  takes: ['seed'],
  headers: ['accept', 'application/json'],
  encode({ prompt, size, seed }, { loss }) {
    const ratio = ratioFor(size, fireworksRatios, loss)
    return { json: { prompt, ...(ratio !== null && { aspect_ratio: ratio }), ...(seed !== null && { seed }) } }
  },
  decode({ json }) {
    if (!isFields(json)) return null
    if (saidText(json, 'finishReason') === 'CONTENT_FILTERED') return { ...made(), refused: 'CONTENT_FILTERED' }
    const drawn: readonly unknown[] = [json['base64']].flat()
    const images = drawn.filter((one) => typeof one === 'string')
    return images.length === 0 ? null : made(...images.map(imageOf))
  },
}

/** docs.hyperbolic.ai/inference/image-apis: the body names the model, under a name of its own. */
export const hyperbolic: ImageProvider = {
  most: 1,
  takes: ['seed'],
  encode: ({ prompt, size, seed }, { model }) => ({
    json: { model_name: model, prompt, ...size, ...(seed !== null && { seed }) },
  }),
  decode({ json }) {
    const drawn = isFields(json) ? saidList(json, 'images').flatMap((one) => saidText(one, 'image') ?? []) : []
    return drawn.length === 0 ? null : made(...drawn.map(imageOf))
  },
}

const segmindRatios = ['1:1', '2:3', '3:2', '4:5', '5:4', '9:16', '16:9', '21:9']

type WriteSize = (size: Size, loss: Loss) => object

const asRatio: WriteSize = (size, loss) => ({ aspect_ratio: ratioFor(size, segmindRatios, loss) })

/** segmind.com/models: how the models of one kind take the size of an image; newer ones take its shape. */
const segmindSizes: readonly (readonly [models: RegExp, write: WriteSize])[] = [
  [/^fast-flux/, asRatio],
  [/^flux/, (size) => size],
  [/^(?:sd|ssd|segmind-vega|kandinsky)/, ({ width, height }) => ({ img_width: width, img_height: height })],
]

/** segmind.com/models: the path names the model, and the answer is the image itself, or JSON that holds it. */
export const segmind: ImageProvider = {
  most: 1,
  takes: ['seed'],
  encode({ prompt, size, seed }, { model, loss }) {
    const [, write] = segmindSizes.find(([models]) => models.test(model)) ?? [null, asRatio]
    return { json: { prompt, ...(size !== null && write(size, loss)), ...(seed !== null && { seed }) } }
  },
  decode(answer) {
    const image = isFields(answer.json) ? saidText(answer.json, 'image') : null
    return image === null ? drawnBytes(answer) : made(imageOf(image))
  },
}

/** Tokens where they are told; the price of a call stands beside them. */
const usageOf = (usage: Fields): TokenUsage => ({
  ...noUsage,
  input: countOf(usage['input_tokens']),
  output: countOf(usage['output_tokens']),
  own: usage,
})

const xaiRatios = ['1:1', '3:4', '4:3', '9:16', '16:9', '2:3', '3:2', '1:2', '2:1']

/** docs.x.ai/developers/rest-api-reference/inference/images: pictures that are changed come as addresses, their bytes too. */
export const xai: ImageProvider = {
  most: 10,
  takes: [],
  takesOwn: true,
  encode({ prompt, count, size, images, asUrl, rest }, { model, loss }) {
    const { stream: _, ...others } = rest
    const ratio = ratioFor(size, xaiRatios, loss)
    const pictures = images.map(({ bytes, mediaType }) => ({ url: `data:${mediaType};base64,${bytes.toString('base64')}` }))
    const [picture, ...more] = pictures
    return {
      json: {
        ...others,
        model,
        prompt,
        n: count,
        response_format: asUrl ? 'url' : 'b64_json',
        ...(ratio !== null && { aspect_ratio: ratio }),
        ...(more.length > 0 ? { images: pictures } : picture !== undefined && { image: picture }),
      },
    }
  },
  decode({ json }) {
    if (!isFields(json)) return null
    const images = saidList(json, 'data').flatMap((one): readonly MadeImage[] => {
      const [image, prompt] = [saidText(one, 'b64_json') ?? saidText(one, 'url'), saidText(one, 'revised_prompt')]
      return image === null ? [] : [{ ...imageOf(image), ...(prompt !== null && { prompt }) }]
    })
    const usage = saidFields(json, 'usage')
    return images.length === 0 ? null : { ...made(...images), usage: usage === null ? null : usageOf(usage) }
  },
}
