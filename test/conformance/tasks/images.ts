import { toFile } from 'openai'
import { json } from '../../support/dialects/strict.ts'
import { drawsStrictly, pixel, textsOfForm } from '../../support/dialects/strict-images.ts'
import type { Behaviour } from '../../support/emulator/behaviour.ts'
import type { Received } from '../../support/emulator/emulator.ts'
import type { Lines } from '../talk.ts'
import { type Area, clouds, errorIn, plainError, type TaskAddress } from './area.ts'
import { openaiAt } from './clients.ts'

const picture = () => toFile(Buffer.from(pixel, 'base64'), 'a.png', { type: 'image/png' })

const linesOf = ({ data = [] }: { readonly data?: readonly { readonly b64_json?: string | null }[] }): Lines =>
  data.map(({ b64_json: base64 }) => `image ${base64 === pixel ? 'as it was drawn' : base64}`)

const generate = async (address: TaskAddress, more: object = {}): Promise<Lines> =>
  linesOf(await openaiAt(address).images.generate({ model: address.model, prompt: 'a sun', ...more }))

async function edit(address: TaskAddress, isMasked: boolean): Promise<Lines> {
  const mask = isMasked ? { mask: await picture() } : {}
  return linesOf(await openaiAt(address).images.edit({ model: address.model, image: await picture(), prompt: 'more sun', ...mask }))
}

const vary = async (address: TaskAddress): Promise<Lines> =>
  linesOf(await openaiAt(address).images.createVariation({ model: address.model, image: await picture() }))

const one = ['image as it was drawn']
const prompt = /^a sun$/

/** OpenAI's own, and Replicate's predictions that have ended. */
function serve(received: Received): Behaviour {
  const { url, json: body, headers } = received
  if (url.startsWith('/openai/')) {
    const sent = headers['content-type']?.startsWith('multipart/') === true ? textsOfForm(received) : body
    return json({ created: 1, data: Array.from({ length: Number(sent['n'] ?? 1) }, () => ({ b64_json: pixel })) })
  }
  if (!url.startsWith('/replicate/')) return drawsStrictly(received)
  const unknown = Object.keys(body).find((name) => name !== 'input' && name !== 'stream')
  if (unknown !== undefined || typeof Object(body['input']).prompt !== 'string') return json({ detail: `unknown: ${unknown}` }, 422)
  return json({ id: 'p', status: 'succeeded', output: `data:image/png;base64,${pixel}` }, 201)
}

const replicate = { row: 'replicate', base: '/replicate', format: 'replicate', error: errorIn('detail') }

export const images: Area = {
  title: 'Images',
  tasks: ['image', 'image-edit', 'image-variation'],
  unable: 'cohere',
  serve,
  clients: {
    generations: {
      title: "OpenAI's images, generations",
      refusedAs: '/images/generations',
      cases: {
        'an image': { ask: (address) => generate(address), heard: [prompt], said: one },
        'two images': { ask: (address) => generate(address, { n: 2 }), heard: [prompt], said: [...one, ...one] },
      },
    },
    edits: {
      title: "OpenAI's images, edits",
      refusedAs: '/images/edits',
      cases: {
        'a picture': { ask: (address) => edit(address, false), heard: ['more sun', new RegExp(pixel.replaceAll(/[+=]/g, '.'))], said: one },
        'with a mask': {
          ask: (address) => edit(address, true),
          heard: ['more sun', new RegExp(pixel.replaceAll(/[+=]/g, '.'))],
          said: one,
        },
      },
    },
    variations: {
      title: "OpenAI's images, variations",
      refusedAs: '/images/variations',
      cases: { 'a picture': { ask: vary, heard: [new RegExp(pixel.replaceAll(/[+=]/g, '.'))], said: one } },
    },
  },
  providers: {
    openai: { title: 'OpenAI', row: 'openai', base: '/openai', model: 'gpt-image-1', format: null, error: plainError },
    gemini: {
      ...clouds.google,
      title: 'Gemini',
      base: '/google',
      model: 'gemini-2.5-flash-image',
      format: 'google/gemini-image',
      clients: ['generations', 'edits'],
    },
    imagen: {
      ...clouds.google,
      title: 'Imagen',
      base: '/google',
      model: 'imagen-4.0-generate-001',
      format: 'google/imagen',
      clients: ['generations'],
    },
    'imagen-edit': {
      ...clouds.vertex,
      title: 'Imagen on Vertex AI, edits',
      base: '/vertex',
      model: 'imagen-3.0-capability-001',
      format: 'google/imagen-edit',
      clients: ['edits'],
    },
    canvas: {
      ...clouds.bedrock,
      title: 'Bedrock, Titan and Nova Canvas',
      base: '/bedrock',
      model: 'amazon.nova-canvas-v1:0',
      format: 'bedrock/canvas',
    },
    'bedrock-stability': {
      ...clouds.bedrock,
      title: 'Bedrock, Stability',
      base: '/bedrock',
      model: 'us.stability.sd3-5-large-v1:0',
      format: 'bedrock/stability',
      clients: ['generations'],
    },
    'bedrock-inpaint': {
      ...clouds.bedrock,
      title: "Bedrock, Stability's inpainting",
      base: '/bedrock',
      model: 'us.stability.stable-image-inpaint-v1:0',
      format: 'bedrock/inpaint',
      clients: ['edits'],
    },
    stability: {
      title: 'Stability',
      row: 'stability-ai',
      base: '/stability',
      model: 'stable-image-core',
      format: 'images/stability',
      clients: ['generations'],
      error: errorIn('message'),
    },
    'stability-edit': {
      title: 'Stability, edits',
      row: 'stability-ai',
      base: '/stability',
      model: 'sd3.5-large',
      format: 'images/stability-edit',
      clients: ['edits'],
      error: errorIn('message'),
    },
    workers: {
      ...clouds.workers,
      title: 'Workers AI',
      model: '@cf/black-forest-labs/flux-1-schnell',
      format: 'images/workers-ai',
      clients: ['generations'],
    },
    huggingface: {
      title: 'Hugging Face',
      row: 'huggingface',
      base: '/hf',
      model: 'black-forest-labs/FLUX.1-dev',
      format: 'images/huggingface',
      clients: ['generations'],
      error: errorIn('error'),
    },
    fireworks: {
      title: 'Fireworks',
      row: 'fireworks-ai',
      base: '/inference/v1',
      model: 'accounts/fireworks/models/flux-1-schnell-fp8',
      format: 'images/fireworks',
      clients: ['generations'],
      error: plainError,
    },
    hyperbolic: {
      title: 'Hyperbolic',
      row: 'hyperbolic',
      base: '/hyperbolic',
      model: 'SDXL1.0-base',
      format: 'images/hyperbolic',
      clients: ['generations'],
      error: errorIn('message'),
    },
    segmind: {
      title: 'Segmind',
      row: 'segmind',
      base: '/segmind',
      model: 'sdxl1.0-txt2img',
      format: 'images/segmind',
      clients: ['generations'],
      error: errorIn('error'),
    },
    xai: {
      title: 'xAI',
      row: 'x-ai',
      base: '/xai/v1',
      model: 'grok-imagine-image',
      format: 'images/xai',
      clients: ['edits'],
      error: (message) => ({ code: 'some', error: message }),
    },
    replicate: { ...replicate, title: 'Replicate', model: 'black-forest-labs/flux-fill-pro', clients: ['generations', 'edits'] },
  },
  departures: [
    {
      note: 'A mask is refused: Gemini changes a picture as the prompt says.',
      providers: ['gemini'],
      clients: ['edits'],
      cases: ['with a mask'],
      refused: /mask cannot be translated for google: it has no counterpart there/,
    },
    {
      note: 'A mask is refused: xAI does not say which part of it is changed.',
      providers: ['xai'],
      clients: ['edits'],
      cases: ['with a mask'],
      refused: /mask cannot be translated for x-ai: it has no counterpart there/,
    },
    {
      note: 'How much of a picture is drawn anew has to be given: it is chosen and named.',
      providers: ['stability-edit'],
      clients: ['edits'],
      cases: ['a picture'],
      dropped: ['strength=0.7'],
    },
  ],
}
