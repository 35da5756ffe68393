import { z } from 'zod'
import { readForm } from '../../../src/gateway/wire/form.ts'
import type { Behaviour } from '../emulator/behaviour.ts'
import type { Received } from '../emulator/emulator.ts'
import { firstFault, json } from './strict.ts'

/** A picture of one pixel. */
export const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

const text = z.string()
const whole = z.number().int()
const ratio = z.enum(['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'])
const part = z.union([z.strictObject({ text }), z.strictObject({ inlineData: z.strictObject({ mimeType: text, data: z.base64() }) })])
const generation = z.strictObject({
  contents: z.tuple([z.strictObject({ role: z.literal('user'), parts: z.array(part).min(1) })]),
  generationConfig: z.strictObject({
    responseModalities: z.array(z.enum(['TEXT', 'IMAGE'])),
    imageConfig: z.strictObject({ aspectRatio: ratio }).optional(),
  }),
})
const canvasConfig = z.strictObject({
  numberOfImages: whole.min(1).max(5),
  width: whole.min(320).max(4096).optional(),
  height: whole.min(320).max(4096).optional(),
  quality: z.enum(['standard', 'premium']).optional(),
  seed: whole.optional(),
})
const canvas = z.discriminatedUnion('taskType', [
  z.strictObject({
    taskType: z.literal('TEXT_IMAGE'),
    textToImageParams: z.strictObject({ text: text.min(1).max(1024) }),
    imageGenerationConfig: canvasConfig,
  }),
  z.strictObject({
    taskType: z.literal('INPAINTING'),
    inPaintingParams: z.strictObject({ image: z.base64(), maskImage: z.base64(), text: text.min(1).optional() }),
    imageGenerationConfig: canvasConfig,
  }),
  z.strictObject({
    taskType: z.literal('IMAGE_VARIATION'),
    imageVariationParams: z.strictObject({ text: text.min(1).optional(), images: z.array(z.base64()).min(1).max(5) }),
    imageGenerationConfig: canvasConfig,
  }),
])
const bytes = z.strictObject({ bytesBase64Encoded: z.base64() })
const imagenEdit = z.strictObject({
  instances: z.tuple([
    z.strictObject({
      prompt: text,
      referenceImages: z
        .array(
          z.discriminatedUnion('referenceType', [
            z.strictObject({ referenceType: z.literal('REFERENCE_TYPE_RAW'), referenceId: whole, referenceImage: bytes }),
            z.strictObject({
              referenceType: z.literal('REFERENCE_TYPE_MASK'),
              referenceId: whole,
              referenceImage: bytes,
              maskImageConfig: z.strictObject({ maskMode: z.literal('MASK_MODE_USER_PROVIDED') }),
            }),
          ]),
        )
        .min(1),
    }),
  ]),
  parameters: z.strictObject({
    sampleCount: whole.min(1).max(4),
    editMode: z.enum(['EDIT_MODE_DEFAULT', 'EDIT_MODE_INPAINT_INSERTION']),
    seed: whole.optional(),
    addWatermark: z.boolean().optional(),
  }),
})
const imagen = z.strictObject({
  instances: z.tuple([z.strictObject({ prompt: text })]),
  parameters: z.strictObject({
    sampleCount: whole.min(1).max(4),
    aspectRatio: z.enum(['1:1', '3:4', '4:3', '9:16', '16:9']).optional(),
    outputOptions: z.strictObject({ mimeType: z.enum(['image/png', 'image/jpeg']) }).optional(),
    seed: whole.optional(),
    addWatermark: z.boolean().optional(),
  }),
})
const stability = z.strictObject({
  prompt: text,
  aspect_ratio: z.enum(['16:9', '1:1', '21:9', '2:3', '3:2', '4:5', '5:4', '9:16', '9:21']).optional(),
  output_format: z.enum(['png', 'jpeg', 'webp']).optional(),
  seed: z.coerce.number().int().optional(),
})
const stabilityForm = stability.extend({ style_preset: text.optional(), model: text.optional() })
const edited = { prompt: text, output_format: text.optional(), style_preset: text.optional(), seed: z.coerce.number().int().optional() }
const inpaintForm = z.strictObject({ ...edited, image: z.base64(), mask: z.base64().optional() })
const wholeForm = z.strictObject({
  ...edited,
  image: z.base64(),
  mode: z.literal('image-to-image'),
  strength: z.coerce.number().min(0).max(1),
  model: text.optional(),
})
const inpaint = z.strictObject({ ...edited, image: z.base64(), mask: z.base64().optional() })
const workers = z.strictObject({ prompt: text, width: whole.optional(), height: whole.optional(), seed: whole.optional() })

const huggingface = z.strictObject({
  inputs: text,
  parameters: z.strictObject({ width: whole.optional(), height: whole.optional(), seed: whole.optional() }).optional(),
})

const sized = { width: whole.min(512).max(2048).optional(), height: whole.min(512).max(2048).optional() }
const seed = whole.optional()
const fireworks = z.strictObject({
  prompt: text,
  aspect_ratio: z.enum(['1:1', '21:9', '16:9', '3:2', '5:4', '4:5', '2:3', '9:16', '9:21', '4:3', '3:4']).optional(),
  guidance_scale: z.number().optional(),
  num_inference_steps: whole.optional(),
  seed,
})
/** xAI's facts about a call: its price too. */
export const xaiUsage = { input_tokens: 4, output_tokens: 6, cost_in_usd_ticks: 200_000_000 }

const place = z.strictObject({ url: text.regex(/^(?:https:|data:image\/)/) })
const xai = z.strictObject({
  model: text,
  prompt: text,
  n: whole.min(1).max(10).optional(),
  response_format: z.enum(['url', 'b64_json']).optional(),
  aspect_ratio: z.enum(['1:1', '3:4', '4:3', '9:16', '16:9', '2:3', '3:2', '1:2', '2:1', 'auto']).optional(),
  resolution: text.optional(),
  user: text.optional(),
  image: place.optional(),
  images: z.array(place).min(2).max(5).optional(),
})
const hyperbolic = z.strictObject({ model_name: text, prompt: text, ...sized, steps: whole.optional(), seed })
const segmind = z.strictObject({ prompt: text, ...sized, samples: whole.optional(), seed })
const segmindOld = z.strictObject({ prompt: text, img_width: sized.width, img_height: sized.height, samples: whole.optional(), seed })
const segmindNew = z.strictObject({ prompt: text, aspect_ratio: ratio.optional(), seed })

const inline = { inlineData: { mimeType: 'image/png', data: pixel } }
const drawn = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Here.' }, inline] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1290, totalTokenCount: 1295 },
}

interface Endpoint {
  readonly path: RegExp
  readonly shape: z.ZodType
  answer(body: unknown): object
  /** True if the answer is no JSON. */
  readonly isRaw?: true
}

const asBytes = { answer: () => ({ status: 200, headers: { 'content-type': 'image/png' }, bodyBase64: pixel }), isRaw: true } as const

const endpoints: readonly Endpoint[] = [
  { path: /gemini-[^/]*:generateContent$/, shape: generation, answer: () => drawn },
  { path: /imagen-3\.0-capability-001:predict$/, shape: imagenEdit, answer: () => ({ predictions: [{ bytesBase64Encoded: pixel }] }) },
  {
    path: /imagen-[^/]*:predict$/,
    shape: imagen,
    answer: (body) => ({
      predictions: Array.from({ length: imagen.parse(body).parameters.sampleCount }, () => ({
        bytesBase64Encoded: pixel,
        mimeType: 'image/png',
        prompt: 'a bright sun',
      })),
    }),
  },
  {
    path: /amazon\.(?:titan-image|nova-canvas)[^/]*\/invoke$/,
    shape: canvas,
    answer: (body) => ({
      images: Array.from({ length: canvas.parse(body).imageGenerationConfig.numberOfImages }, () => pixel),
      error: null,
    }),
  },
  {
    path: /stability\.[^/]*inpaint[^/]*\/invoke$/,
    shape: inpaint,
    answer: () => ({ seeds: [1], finish_reasons: [null], images: [pixel] }),
  },
  { path: /stable-image\/edit\/inpaint$/, shape: inpaintForm, answer: () => ({ image: pixel, finish_reason: 'SUCCESS', seed: 1 }) },
  {
    path: /stability\.[^/]*\/invoke$/,
    shape: stability,
    answer: () => ({ seeds: [1], finish_reasons: [null], images: [pixel] }),
  },
  {
    path: /stable-image\/generate\/(?:core|ultra|sd3)$/,
    shape: z.union([stabilityForm, wholeForm]),
    answer: () => ({ image: pixel, finish_reason: 'SUCCESS', seed: 1 }),
  },
  {
    path: /hf-inference\/models\/black-forest-labs\/FLUX\.1-dev$/,
    shape: huggingface,
    ...asBytes,
  },
  {
    path: /workflows\/accounts\/fireworks\/models\/flux-1-[^/]+\/text_to_image$/,
    shape: fireworks,
    answer: () => ({ id: 'f', base64: [`data:image/png;base64,${pixel}`], finishReason: 'SUCCESS', seed: 1 }),
  },
  {
    path: /v1\/image\/generation$/,
    shape: hyperbolic,
    answer: () => ({ images: [{ index: 0, image: pixel, random_seed: 1 }], inference_time: 1 }),
  },
  {
    path: /xai\/v1\/images\/edits$/,
    shape: xai,
    answer: (body) => {
      const { n = 1, response_format: format = 'url' } = xai.parse(body)
      const image = format === 'url' ? { url: 'https://pictures.example/1.png' } : { b64_json: pixel }
      return { data: Array.from({ length: n }, () => ({ ...image, revised_prompt: 'much more sun' })), usage: xaiUsage }
    },
  },
  { path: /segmind\/flux-schnell$/, shape: segmind, ...asBytes },
  { path: /segmind\/sdxl1\.0-txt2img$/, shape: segmindOld, answer: () => ({ image: pixel, status: 'Success', infer_time: 1 }) },
  { path: /segmind\/nano-banana$/, shape: segmindNew, ...asBytes },
  {
    path: /ai\/run\/@cf\/black-forest/,
    shape: workers,
    answer: () => ({ result: { image: pixel }, success: true, errors: [], messages: [] }),
  },
]

/** Returns the fields of a form: texts, and files in base64. */
export const textsOfForm = ({ body, headers }: Received): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (readForm(body, headers['content-type'] ?? '') ?? []).map(({ name, text: value, start, end }) => [
      name,
      value ?? body.toString('base64', start, end),
    ]),
  )

/** Makes images as strictly as the vendors do. */
export function drawsStrictly(received: Received): Behaviour {
  const { url, headers, json: body } = received
  const endpoint = endpoints.find(({ path }) => path.test(decodeURIComponent(url.split('?', 1)[0] ?? '')))
  if (endpoint === undefined) return json({ message: `no ${url}` }, 404)
  const sent = headers['content-type']?.startsWith('multipart/') === true ? textsOfForm(received) : body
  const read = endpoint.shape.safeParse(sent)
  if (!read.success) return json({ message: firstFault(read.error) }, 400)
  const answer = endpoint.answer(sent)
  return endpoint.isRaw === true ? answer : json(answer)
}
