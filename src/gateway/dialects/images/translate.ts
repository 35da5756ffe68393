import type { Fields } from '../../../lib/json/fields.ts'
import { sumUsages } from '../neutral/token-usage.ts'
import { readOnce, type SentFile, type TaskAnswer, type TaskContext, type TaskTranslation, type WrittenAnswer } from '../tasks/task.ts'
import { canvas, inpaintOnBedrock, stabilityOnBedrock } from './bedrock.ts'
import { gemini, imagen, imagenEdit } from './google.ts'
import { fireworks, hyperbolic, segmind, xai } from './hosts.ts'
import type { ImageAnswer, ImageProvider, ImageRequest } from './neutral.ts'
import { decode, encode } from './openai-client.ts'
import { huggingface, stability, stabilityEdit, workersAi } from './others.ts'
import { replicate } from './replicate.ts'

/** Clients ask as OpenAI is asked. */
export const imageClients: Readonly<Record<string, true>> = { images: true }

/** The formats of providers: a dialect with its form. */
export const imageProviders: Readonly<Record<string, ImageProvider>> = {
  'google/gemini-image': gemini,
  'google/imagen': imagen,
  'bedrock/canvas': canvas,
  'bedrock/stability': stabilityOnBedrock,
  'google/imagen-edit': imagenEdit,
  'bedrock/inpaint': inpaintOnBedrock,
  'images/stability': stability,
  'images/stability-edit': stabilityEdit,
  'images/workers-ai': workersAi,
  'images/huggingface': huggingface,
  'images/fireworks': fireworks,
  'images/hyperbolic': hyperbolic,
  'images/segmind': segmind,
  'images/xai': xai,
  replicate,
}

export interface AskedImages {
  readonly task: string
  readonly to: string
  readonly body: Fields
  readonly files: readonly SentFile[]
}

/** Translates a request for images: in as many calls as it takes to make all of them. Null: the provider takes it as it is. Throws `invalid_request`. */
export function translateImages({ task, to, body, files }: AskedImages, context: TaskContext): TaskTranslation | null {
  const provider = imageProviders[to]
  if (provider === undefined || (provider.takesOwn === true && files.length === 0)) return null
  const request = decode(task === 'image-variation' ? { prompt: '', ...body } : body, files)
  dropOthers(request, provider, context)
  const counts = countsOf(request.count, provider.most)
  const read = readOnce((answer) => provider.decode(answer))
  return {
    bodies: counts.map((count, at) => provider.encode({ ...request, count, seed: seedOf(request, at) }, context)),
    headers: provider.headers ?? [],
    suffix: provider.suffix?.(request) ?? '',
    ...(provider.steps !== undefined && { steps: provider.steps(request.asUrl && body['stream'] !== true) }),
    loss: context.loss,
    part: {
      isAnswer: (answer) => read(answer) !== null,
      write: (answer, _, now) => write([answer], { read, body, now }),
    },
    write: (answers, now) => write(answers, { read, body, now }),
  }
}

/** Returns how many images each call makes. */
const countsOf = (count: number, most: number): readonly number[] =>
  Array.from({ length: Math.max(1, Math.ceil(count / most)) }, (_, at) => Math.min(most, count - at * most))

/** Calls of one seed would all make the same image. */
const seedOf = ({ seed }: ImageRequest, at: number): number | null => (seed === null ? null : seed + at)

const optional = { quality: 'quality', style: 'style', outputFormat: 'output_format', seed: 'seed' } as const
const names = ['quality', 'style', 'outputFormat', 'seed'] as const

/** Drops fields that the provider has no place for. */
function dropOthers(request: ImageRequest, { takes, takesMask = false, takesOwn }: ImageProvider, { loss }: TaskContext): void {
  if (request.mask !== null && !takesMask) loss.refuseAt('mask', 'has no counterpart there')
  for (const name of Object.keys(request.rest)) if (takesOwn !== true || name === 'stream') loss.dropAt(name)
  for (const name of names) if (request[name] !== null && request[name] !== 'auto' && !takes.includes(name)) loss.dropAt(optional[name])
}

interface WriteOptions {
  readonly read: (answer: TaskAnswer) => ImageAnswer | null
  readonly body: Fields
  readonly now: number
}

function write(answers: readonly TaskAnswer[], { read: readAnswer, body, now }: WriteOptions): WrittenAnswer | null {
  const read = answers.map(readAnswer)
  if (!read.every((one) => one !== null)) return null
  const images = read.flatMap((one) => one.images)
  const usage = sumUsages(read.map((one) => one.usage))
  if (images.length === 0) return { ...refusal(read.map(({ refused }) => refused).find((one) => one !== null) ?? 'no image'), usage }
  return { body: encode({ images, refused: null, usage }, body, now), usage }
}

/** Returns the error of a provider that kept all images back, in OpenAI's form. */
const refusal = (reason: string): Pick<WrittenAnswer, 'body' | 'status'> => ({
  status: 400,
  body: {
    json: {
      error: {
        message: `The provider made no image: ${reason}.`,
        type: 'image_generation_user_error',
        param: null,
        code: 'content_policy_violation',
      },
    },
  },
})
