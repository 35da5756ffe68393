import type { Fields } from '../../../lib/json/fields.ts'
import { unread } from '../leftovers.ts'
import { sumOf, type TokenUsage } from '../neutral/token-usage.ts'
import { flagIn, neededText, numberIn, textIn, unreadable } from '../reading.ts'
import type { SentFile, TaskBody } from '../tasks/task.ts'
import { readImage, readMask } from './mask.ts'
import type { ImageAnswer, ImageRequest, MadeImage, Size } from './neutral.ts'

/** `seed` is no field of OpenAI's, but of all others. */
const known: ReadonlySet<string> = new Set([
  'model',
  'prompt',
  'n',
  'size',
  'quality',
  'style',
  'output_format',
  'response_format',
  'seed',
  'stream',
])

/** Reads a request for images. One with pictures is a form, whose fields all are texts. */
export function decode(sent: Fields, files: readonly SentFile[]): ImageRequest {
  const body = files.length === 0 ? sent : withValues(sent)
  const mask = files.find(({ name }) => name === 'mask')
  const count = numberIn(body, 'n') ?? 1
  if (!Number.isInteger(count)) throw unreadable('n', 'a whole number')
  return {
    prompt: neededText(body, 'prompt'),
    count,
    size: sizeIn(textIn(body, 'size')),
    quality: textIn(body, 'quality'),
    style: textIn(body, 'style'),
    outputFormat: textIn(body, 'output_format'),
    images: files.filter(({ name }) => name === 'image' || name === 'image[]').map(readImage),
    mask: mask === undefined ? null : readMask(mask),
    seed: numberIn(body, 'seed'),
    asUrl: textIn(body, 'response_format') === 'url',
    rest: { ...unread(body, known), ...(flagIn(body, 'stream') === true && { stream: true }) },
  }
}

/** Returns the fields of a form with the numbers and flags that JSON has in their place. */
function withValues(form: Fields): Fields {
  const values = Object.entries(form).map(([name, value]) => {
    if (name === 'n' || name === 'seed') return [name, Number(value)] as const
    return [name, name === 'stream' ? value === 'true' : value] as const
  })
  return Object.fromEntries(values)
}

function sizeIn(size: string | null): Size | null {
  if (size === null || size === 'auto') return null
  const [, width = '', height = ''] = /^(\d{2,5})x(\d{2,5})$/.exec(size) ?? []
  if (width === '') throw unreadable('size', 'auto, or width and height such as 1024x1024')
  return { width: Number(width), height: Number(height) }
}

/** Writes the answer: `url` is asked for where a program wants an address, which is that of the bytes themselves. */
export function encode({ images, usage }: ImageAnswer, body: Fields, nowSeconds: number): TaskBody {
  const counted = usage === null || sumOf(usage.input, usage.output) === null ? {} : { usage: writeCounts(usage) }
  if (body['stream'] === true)
    return { contentType: 'text/event-stream', bytes: Buffer.from(images.map((image) => event(image, counted, nowSeconds)).join('')) }
  const asUrl = body['response_format'] === 'url'
  const data = images.map(({ prompt, ...image }) => ({
    ...written(image, asUrl),
    ...(prompt !== undefined && { revised_prompt: prompt }),
  }))
  return { json: { created: nowSeconds, data, ...counted } }
}

function written(image: MadeImage, asUrl: boolean): object {
  if ('url' in image) return { url: image.url }
  return asUrl ? { url: `data:${mediaTypeOf(image.base64)};base64,${image.base64}` } : { b64_json: image.base64 }
}

/** Returns the last event of a stream, which is its only one: others make no drafts. */
function event(image: MadeImage, counted: object, nowSeconds: number): string {
  const base64 = 'base64' in image ? image.base64 : ''
  const type = 'image_generation.completed'
  const format = mediaTypeOf(base64).slice('image/'.length)
  return `event: ${type}\ndata: ${JSON.stringify({ type, b64_json: base64, created_at: nowSeconds, output_format: format, ...counted })}\n\n`
}

const writeCounts = ({ input, output }: TokenUsage): object => ({
  input_tokens: input ?? 0,
  output_tokens: output ?? 0,
  total_tokens: (input ?? 0) + (output ?? 0),
})

const beginnings: readonly (readonly [beginning: string, mediaType: string])[] = [
  ['/9j/', 'image/jpeg'],
  ['UklGR', 'image/webp'],
]

/** Returns the type of an image by its first bytes. */
const mediaTypeOf = (base64: string): string => beginnings.find(([beginning]) => base64.startsWith(beginning))?.[1] ?? 'image/png'
