import { crc32, deflateSync, inflateSync } from 'node:zlib'
import test from 'ava'
import OpenAI, { toFile } from 'openai'
import { json } from '../../support/dialects/strict.ts'
import { drawsStrictly, pixel, textsOfForm, xaiUsage } from '../../support/dialects/strict-images.ts'
import { type Emulator, type Received, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** OpenAI's client makes images at every provider that makes them, in any format. */
let cloud: Emulator
let bed: GatewayBed

test.before(async () => {
  cloud = await startEmulator()
  const at = (provider: string, base: string, fields: Record<string, string> = {}) => ({
    provider,
    customHost: cloud.origin + base,
    credential: { key: 'sk-upstream', fields },
  })
  bed = await startGateway({
    providers: {
      gpt: at('openai', '/v1'),
      gemini: at('google', '/google'),
      vertex: at('vertex-ai', '/vertex', { vertex_project_id: 'project', vertex_region: 'us-east5' }),
      bedrock: at('bedrock', '/bedrock', { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_region: 'us-east-1' }),
      stability: at('stability-ai', '/stability'),
      cloudflare: at('workers-ai', '', { workers_ai_account_id: 'account' }),
      hf: at('huggingface', '/hf'),
      replicate: at('replicate', '/replicate'),
      fireworks: at('fireworks-ai', '/inference/v1'),
      hyperbolic: at('hyperbolic', '/hyperbolic'),
      segmind: at('segmind', '/segmind'),
      xai: at('x-ai', '/xai/v1'),
      cohere: at('cohere', '/cohere'),
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})
test.beforeEach(() => {
  cloud.reset()
  cloud.script({ behaviour: drawsStrictly })
})

const openai = (headers: Record<string, string> = {}) =>
  new OpenAI({ baseURL: `${bed.origin}/v1`, apiKey: workspaceKey, maxRetries: 0, defaultHeaders: headers })

interface Row {
  readonly model: string
  readonly ask?: object
  /** So many calls make two images. */
  readonly calls: number
  readonly sent: object
  readonly dropped?: string
  /** The tokens that the log shows; absent: images are counted. */
  readonly tokens?: number
}

const rows: readonly Row[] = [
  {
    model: '@gemini/gemini-2.5-flash-image',
    ask: { size: '1024x1536', quality: 'high' },
    calls: 2,
    sent: { contents: [{ role: 'user', parts: [{ text: 'a sun' }] }], generationConfig: { imageConfig: { aspectRatio: '2:3' } } },
    dropped: 'quality',
    tokens: 2590,
  },
  { model: '@gemini/imagen-4.0-generate-001', calls: 1, sent: { instances: [{ prompt: 'a sun' }], parameters: { sampleCount: 2 } } },
  {
    model: '@vertex/imagen-4.0-generate-001',
    ask: { size: '1024x1536', output_format: 'jpeg', seed: 7 },
    calls: 1,
    sent: { parameters: { aspectRatio: '3:4', outputOptions: { mimeType: 'image/jpeg' }, seed: 7, addWatermark: false } },
    dropped: 'size',
  },
  {
    model: '@vertex/gemini-2.5-flash-image',
    calls: 2,
    sent: { generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } },
    tokens: 2590,
  },
  {
    model: '@bedrock/amazon.nova-canvas-v1:0',
    ask: { size: '1024x1024', quality: 'hd', style: 'vivid', user: 'u' },
    calls: 1,
    sent: {
      taskType: 'TEXT_IMAGE',
      textToImageParams: { text: 'a sun' },
      imageGenerationConfig: { numberOfImages: 2, width: 1024, height: 1024, quality: 'premium' },
    },
    dropped: 'user, style',
  },
  {
    model: '@bedrock/us.stability.sd3-5-large-v1:0',
    ask: { size: '1536x1024', seed: 4 },
    calls: 2,
    sent: { prompt: 'a sun', aspect_ratio: '3:2', seed: 4 },
  },
  {
    model: '@cloudflare/@cf/black-forest-labs/flux-1-schnell',
    ask: { size: '512x512', background: 'opaque' },
    calls: 2,
    sent: { prompt: 'a sun', width: 512, height: 512 },
    dropped: 'background',
  },
  {
    model: '@hf/black-forest-labs/FLUX.1-dev',
    ask: { size: '512x512', seed: 5 },
    calls: 2,
    sent: { inputs: 'a sun', parameters: { width: 512, height: 512, seed: 5 } },
  },
  {
    model: '@fireworks/accounts/fireworks/models/flux-1-schnell-fp8',
    ask: { size: '1024x1536', seed: 5, output_format: 'webp' },
    calls: 2,
    sent: { prompt: 'a sun', aspect_ratio: '2:3', seed: 5 },
    dropped: 'output_format',
  },
  {
    model: '@hyperbolic/FLUX.1-dev',
    ask: { size: '512x768', seed: 5, style: 'vivid' },
    calls: 2,
    sent: { model_name: 'FLUX.1-dev', prompt: 'a sun', width: 512, height: 768, seed: 5 },
    dropped: 'style',
  },
  { model: '@segmind/flux-schnell', ask: { size: '512x768' }, calls: 2, sent: { prompt: 'a sun', width: 512, height: 768 } },
  {
    model: '@segmind/sdxl1.0-txt2img',
    ask: { size: '1024x1024', seed: 5 },
    calls: 2,
    sent: { prompt: 'a sun', img_width: 1024, img_height: 1024, seed: 5 },
  },
  {
    model: '@segmind/nano-banana',
    ask: { size: '1000x1600', user: 'u' },
    calls: 2,
    sent: { prompt: 'a sun', aspect_ratio: '2:3' },
    dropped: 'user, size',
  },
]

for (const { model, ask = {}, calls, sent, dropped = null, tokens } of rows)
  test.serial(`images: OpenAI's client gets those of ${model}`, async (t) => {
    const entry = bed.nextLog()
    const { data, response } = await openai()
      .images.generate({ model, prompt: 'a sun', n: 2, ...ask })
      .withResponse()
    t.deepEqual(
      data.data?.map(({ b64_json: base64 }) => base64),
      [pixel, pixel],
    )
    t.is(response.headers.get('x-service-dropped-params'), dropped)
    t.is(cloud.requests.length, calls)
    t.like(cloud.requests[0]?.json, sent)
    const { record } = await entry
    t.is(record.operation, 'imageGenerate')
    t.is(record.usage?.totalTokens, tokens)
    if (tokens === undefined) t.deepEqual(record.cost?.charges[0]?.counts, { image: 2 })
    t.is(data.usage?.total_tokens, tokens)
  })

test.serial('images: Stability gets a form for each image, at the address of its service', async (t) => {
  await openai().images.generate({ model: '@stability/stable-image-core', prompt: 'a sun', size: '1024x1024', output_format: 'webp' })
  await openai().images.generate({ model: '@stability/sd3.5-large', prompt: 'a sun' })
  t.deepEqual(
    cloud.requests.map(({ url }) => url),
    ['/stability/v2beta/stable-image/generate/core', '/stability/v2beta/stable-image/generate/sd3'],
  )
  t.deepEqual(
    cloud.requests.map((received) => textsOfForm(received)),
    [
      { prompt: 'a sun', aspect_ratio: '1:1', output_format: 'webp' },
      { prompt: 'a sun', model: 'sd3.5-large' },
    ],
  )
  t.is(cloud.requests[0]?.headers.accept, 'application/json')
})

test.serial('images: an address is that of the bytes, and a stream has the whole image as its one event', async (t) => {
  const model = '@gemini/imagen-4.0-generate-001'
  const { data } = await openai().images.generate({ model, prompt: 'a sun', response_format: 'url' })
  t.is(data?.[0]?.url, `data:image/png;base64,${pixel}`)
  t.is(data?.[0]?.revised_prompt, 'a bright sun')
  const events = []
  for await (const event of await openai().images.generate({ model, prompt: 'a sun', stream: true })) events.push(event)
  t.deepEqual(
    events.map((event) => [event.type, event.b64_json]),
    [['image_generation.completed', pixel]],
  )
})

test.serial('images: what a provider keeps back is an error, as are its own errors', async (t) => {
  const model = '@gemini/gemini-2.5-flash-image'
  cloud.script({ behaviour: json({ candidates: [{ content: { parts: [] }, finishReason: 'IMAGE_SAFETY' }] }) })
  const kept = await t.throwsAsync(openai().images.generate({ model, prompt: 'a sun' }), { instanceOf: OpenAI.BadRequestError })
  t.is(kept?.code, 'content_policy_violation')
  t.regex(kept?.message ?? '', /IMAGE_SAFETY/)
  cloud.script({ behaviour: json({ id: 'f', base64: [pixel], finishReason: 'CONTENT_FILTERED', seed: 1 }) })
  const filtered = openai().images.generate({ model: '@fireworks/accounts/fireworks/models/flux-1-dev-fp8', prompt: 'a sun' })
  t.regex((await t.throwsAsync(filtered, { instanceOf: OpenAI.BadRequestError }))?.message ?? '', /CONTENT_FILTERED/)
  cloud.script({ behaviour: json({ error: { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED' } }, 429) })
  await t.throwsAsync(openai().images.generate({ model, prompt: 'a sun' }), { instanceOf: OpenAI.RateLimitError, message: /slow down/ })
})

test.serial(
  "images: a provider that has OpenAI's format gets requests as they are; one that makes none is named with those that do",
  async (t) => {
    cloud.script({ behaviour: json({ created: 1, data: [{ b64_json: pixel }] }) })
    await openai().images.generate({ model: '@gpt/gpt-image-1', prompt: 'a sun', quality: 'high', background: 'opaque' })
    t.deepEqual(cloud.requests[0]?.json, { model: 'gpt-image-1', prompt: 'a sun', quality: 'high', background: 'opaque' })
    const refused = await t.throwsAsync(openai().images.generate({ model: '@cohere/command-a', prompt: 'a sun' }), {
      instanceOf: OpenAI.BadRequestError,
    })
    t.is(refused?.code, 'unsupported_operation')
    t.regex(refused?.message ?? '', /cohere does not serve \/images\/generations.*These do: openai/)
  },
)

test.serial('images: xAI gets pictures that are changed in JSON, and JSON in its own words goes on as it came', async (t) => {
  const image = await toFile(Buffer.from(pixel, 'base64'), 'a.png', { type: 'image/png' })
  const asked = { model: '@xai/grok-imagine-image', prompt: 'more sun', n: 2, size: '1024x1536', user: 'u' } as const
  const { data, response } = await openai()
    .images.edit({ ...asked, image })
    .withResponse()
  t.deepEqual(
    data.data?.map(({ b64_json: base64, revised_prompt: drawn }) => [base64, drawn]),
    Array.from({ length: 2 }, () => [pixel, 'much more sun']),
  )
  t.like(data, { usage: { input_tokens: 4, output_tokens: 6, total_tokens: 10 } })
  t.is(response.headers.get('x-service-dropped-params'), null)
  const url = `data:image/png;base64,${pixel}`
  const sent = { model: 'grok-imagine-image', prompt: 'more sun', n: 2, aspect_ratio: '2:3', user: 'u' }
  t.like(cloud.requests[0]?.json, { ...sent, image: { url } })
  await openai().images.edit({ ...asked, image: [image, image] })
  t.deepEqual(cloud.requests[1]?.json['images'], [{ url }, { url }])
  const placed = await openai().images.edit({ ...asked, image, n: 1, response_format: 'url' })
  t.like(placed, { data: [{ url: 'https://pictures.example/1.png', revised_prompt: 'much more sun' }] })
  const own = { model: '@xai/grok-imagine-image', prompt: 'more sun', image: { url: 'https://pictures.example/a.png' }, resolution: '2k' }
  const answer = await fetch(`${bed.origin}/v1/images/edits`, {
    method: 'POST',
    headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json' },
    body: JSON.stringify(own),
  })
  t.is(answer.status, 200)
  t.like(await answer.json(), { data: [{ url: 'https://pictures.example/1.png', revised_prompt: 'much more sun' }], usage: xaiUsage })
  t.deepEqual(cloud.requests[3]?.json, { ...own, model: 'grok-imagine-image' })
})

test.serial('images: a picture is changed by Gemini, and varied by Nova Canvas; a mask is refused', async (t) => {
  const image = await toFile(Buffer.from(pixel, 'base64'), 'a.png', { type: 'image/png' })
  const edited = await openai().images.edit({ model: '@gemini/gemini-2.5-flash-image', image, prompt: 'more sun', n: 1 })
  t.is(edited.data?.[0]?.b64_json, pixel)
  t.deepEqual(cloud.requests[0]?.json['contents'], [
    { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: pixel } }, { text: 'more sun' }] },
  ])
  await openai().images.edit({ model: '@bedrock/amazon.nova-canvas-v1:0', image: [image], prompt: 'more sun' })
  t.like(cloud.requests[1]?.json, { taskType: 'IMAGE_VARIATION', imageVariationParams: { text: 'more sun', images: [pixel] } })
  await openai().images.createVariation({ model: '@bedrock/amazon.nova-canvas-v1:0', image, n: 2 })
  t.like(cloud.requests[2]?.json, { imageVariationParams: { images: [pixel] }, imageGenerationConfig: { numberOfImages: 2 } })
  const varied = openai().images.createVariation({ model: '@gemini/gemini-2.5-flash-image', image })
  t.is((await t.throwsAsync(varied, { instanceOf: OpenAI.BadRequestError }))?.code, 'unsupported_operation')
  const masked = openai().images.edit({ model: '@gemini/gemini-2.5-flash-image', image, mask: image, prompt: 'more sun' })
  t.is((await t.throwsAsync(masked, { instanceOf: OpenAI.BadRequestError }))?.param, 'mask')
})

/** The rows of a gray picture of eight bits, without their filters. */
function grayOf(base64: string): readonly (readonly number[])[] {
  const png = Buffer.from(base64, 'base64')
  const [width, at] = [png.readUInt32BE(16), png.indexOf('IDAT')]
  const unpacked = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)))
  if (png[24] !== 8 || png[25] !== 0) throw new Error('the picture is not gray')
  return Array.from({ length: unpacked.length / (width + 1) }, (_, y) => [...unpacked.subarray(y * (width + 1) + 1, (y + 1) * (width + 1))])
}

const chunk = (name: string, data: Buffer) => {
  const named = Buffer.concat([Buffer.from(name), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}

function pngOf(width: number, lines: readonly (readonly number[])[]): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(lines.length, 4)
  header.set([8, 6], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.from(lines.flat()))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** A picture of two rows: its left pixels are transparent. It has a filter of each kind that looks up or to the left. */
const half = pngOf(2, [
  [1, 9, 9, 9, 0, 1, 1, 1, 255],
  [2, 0, 0, 0, 0, 0, 0, 0, 0],
])

/** Masks, as providers take them: the part to change is white at most, and black at Titan and Nova Canvas. */
const masks: readonly (readonly [model: string, url: RegExp, maskOf: (received: Received) => unknown, isWhite: boolean])[] = [
  ['@stability/stable-image-inpaint', /\/v2beta\/stable-image\/edit\/inpaint$/, (received) => textsOfForm(received)['mask'], true],
  ['@bedrock/us.stability.stable-image-inpaint-v1:0', /invoke$/, ({ json: body }) => body['mask'], true],
  ['@bedrock/amazon.titan-image-generator-v2:0', /invoke$/, ({ json: body }) => Object(body['inPaintingParams']).maskImage, false],
  [
    '@vertex/imagen-3.0-capability-001',
    /:predict$/,
    ({ json: body }) => Object(body).instances[0].referenceImages[1].referenceImage.bytesBase64Encoded,
    true,
  ],
]

for (const [model, url, maskOf, isWhite] of masks)
  test.serial(`images: ${model} changes the part of a picture that a mask leaves transparent`, async (t) => {
    const [image, mask] = [await toFile(Buffer.from(pixel, 'base64'), 'a.png'), await toFile(half, 'mask.png')]
    const edited = await openai().images.edit({ model, image, mask, prompt: 'more sun' })
    t.is(edited.data?.[0]?.b64_json, pixel)
    const [received] = cloud.requests
    if (received === undefined) throw new Error('nobody was asked')
    t.regex(received.url, url)
    const changed = isWhite ? [255, 0] : [0, 255]
    t.deepEqual(grayOf(String(maskOf(received))), [changed, changed])
    const entry = bed.nextLog()
    const opaque = await toFile(Buffer.from('no picture'), 'mask.png')
    const refused = await t.throwsAsync(openai().images.edit({ model, image, mask: opaque, prompt: 'more sun' }), {
      instanceOf: OpenAI.BadRequestError,
    })
    t.is(refused?.param, 'mask')
    await entry
  })

const edit = async (bytes: Buffer) =>
  openai()
    .images.edit({ model: '@stability/sd3.5-large', image: await toFile(bytes, 'a.png'), prompt: 'more sun' })
    .withResponse()

test.serial('images: Stability draws anew what of a picture is transparent, or else all of it', async (t) => {
  await edit(half)
  const { response } = await edit(pngOf(1, [[0, 1, 2, 3, 255]]))
  t.is(response.headers.get('x-service-dropped-params'), 'strength=0.7')
  t.regex(cloud.requests[0]?.url ?? '', /\/edit\/inpaint$/)
  t.regex(cloud.requests[1]?.url ?? '', /\/generate\/sd3$/)
  t.like(textsOfForm(cloud.requests[1] as Received), { mode: 'image-to-image', strength: '0.7', model: 'sd3.5-large', prompt: 'more sun' })
})

test.serial('images: a mask for Replicate goes beside the picture', async (t) => {
  cloud.script({ behaviour: json({ id: 'p', status: 'succeeded', output: `data:image/png;base64,${pixel}` }, 201) })
  const [image, mask] = [await toFile(Buffer.from(pixel, 'base64'), 'a.png'), await toFile(half, 'mask.png')]
  const edited = await openai().images.edit({ model: '@replicate/black-forest-labs/flux-fill-pro', image, mask, prompt: 'more sun' })
  t.is(edited.data?.[0]?.b64_json, pixel)
  const { image: sent, mask: masked } = Object(cloud.requests[0]?.json['input'])
  t.is(sent, `data:image/png;base64,${pixel}`)
  t.deepEqual(grayOf(String(masked).split(',')[1] ?? ''), [
    [255, 0],
    [255, 0],
  ])
})

for (const [task, ask] of [
  ['edits', (n: number) => ({ model: '@bedrock/amazon.titan-image-generator-v2:0', prompt: 'more sun', n })],
  ['variations', (n: number) => ({ model: '@bedrock/amazon.nova-canvas-v1:0', n })],
] as const)
  test.serial(`images: so many ${task} are made, and no more`, async (t) => {
    const image = await toFile(half, 'a.png')
    const make = (n: number) =>
      task === 'edits'
        ? openai().images.edit({ ...ask(n), prompt: 'more sun', image, mask: image })
        : openai().images.createVariation({ ...ask(n), image })
    for (const [n, message] of [
      [0, /n: must be at least 1\. Got 0/],
      [129, /n: must be at most 128\. Got 129/],
      [1.5, /n must be a whole number/],
    ] as const) {
      const refused = await t.throwsAsync(make(n), { instanceOf: OpenAI.BadRequestError })
      t.is(refused?.param, 'n')
      t.regex(refused?.message ?? '', message)
    }
    t.is(cloud.requests.length, 0)
    t.is((await make(128)).data?.length, 128)
    // Five of them to a call: 25 calls of five and one of three.
    t.is(cloud.requests.length, 26)
  })
