// The most that a request can cost, with figures worked out by hand from the rates given here, in nano-US-dollars.
import test from 'ava'
import { faultOf } from '../../../support/doors/door.ts'
import { type Asked, bound } from '../../../support/limits/bound.ts'

test('the input is at most the bytes of the body, the output what the request names, times its answers', (t) => {
  const { nano, bytes } = bound({ model: 'm', messages: [], max_tokens: 100, n: 3 })
  t.is(nano, bytes * 1000 + 300 * 2000)
})

test('without a bound of its own a request may write as much as the model can; typical reserves less', (t) => {
  const strict = bound({ model: 'm', messages: [] })
  t.is(strict.nano, strict.bytes * 1000 + 4000 * 2000)
  const typical = bound({ model: 'm', messages: [] }, { policy: 'typical' })
  t.is(typical.nano, Math.ceil(typical.bytes / 3) * 1000 + 1024 * 2000)
})

test('provisioned throughput that is not charged may spill over to what is: it is reserved like any other', (t) => {
  const json = { model: 'm', messages: [], max_tokens: 100 }
  t.is(bound(json, { provisioned: true }).nano, bound(json).nano)
  t.true((bound(json).nano ?? 0) > 0)
  t.is(bound({ model: 'unpriced', messages: [] }, { provisioned: true }).nano, 0)
  t.is(bound({ model: 'unpriced', messages: [] }).nano, null)
})

const transcription = { operation: 'createTranscription' } as const
const formOf = (...parts: readonly (readonly [head: string, text: string])[]) => ({
  contentType: 'multipart/form-data; boundary=x',
  bytes: Buffer.from(
    `${parts.map(([head, text]) => `--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`).join('')}--x--\r\n`,
    'latin1',
  ),
})
const sound = ['name="file"; filename="a.mp3"', 'ÿ'.repeat(3000)] as const
const sealed = { contentType: 'audio/mpeg', bytes: Buffer.alloc(3000) }
const addressed = (field: string) => [`name="${field}"`, 'https://recordings.example/long.mp3'] as const

/** Requests whose recording does not pass. */
const unseen: Readonly<Record<string, readonly [json: object, asked?: Asked]>> = {
  'a form without a recording': [{}, { upload: formOf(['name="model"', 'listens']) }],
  'a form with an address beside a recording': [{}, { upload: formOf(sound, addressed('url')) }],
  ...Object.fromEntries(
    ['url', 'file_url', 'file_id', 'source_url', 'cloud_storage_url', 'audio_url'].map((field) => [
      `a form with ${field}`,
      [{}, { upload: formOf(addressed(field)) }],
    ]),
  ),
  'an address in JSON': [{ url: 'https://recordings.example/long.mp3' }],
  'an address in the settings of JSON': [{ input: { source: ['gs://recordings/long.mp3'] } }],
  'a file by its id': [{ file_id: 'file-1' }],
  'fields as browsers send them': [{}, { upload: { contentType: 'application/x-www-form-urlencoded', bytes: Buffer.from('url=x') } }],
}
for (const [name, [json, with_]] of Object.entries(unseen))
  test(`a recording that does not pass has no bound, and typical takes the longest: ${name}`, (t) => {
    const asked = { ...transcription, ...with_ }
    const request = { model: 'listens', ...json }
    t.is(bound(request, asked).nano, null)
    // 25 MB at 16 kbit/s have 13,107,200 ms.
    t.is(bound(request, { ...asked, policy: 'typical' }).nano, 13_107_200 * 1000)
  })

test('a recording that passes is as long as its bytes: at 6 kbit/s for a strict limit, at 16 kbit/s for a typical one', (t) => {
  const json = { model: 'listens', audio: 'A'.repeat(2970) }
  for (const [upload, strict, typical] of [
    [sealed, 4000, 1500],
    [undefined, 4000, 1500],
    [formOf(sound), 4000, Math.ceil(formOf(sound).bytes.length / 2)],
  ] as const) {
    const asked = { ...transcription, ...(upload !== undefined && { upload }) }
    t.is(bound(json, asked).nano, strict * 1000)
    t.is(bound(json, { ...asked, policy: 'typical' }).nano, typical * 1000)
  }
})

test('a bound above what the model can write counts no more', (t) => {
  const { nano, bytes } = bound({ model: 'm', messages: [], max_completion_tokens: 1_000_000 })
  t.is(nano, bytes * 1000 + 4000 * 2000)
})

test('a long prompt is bounded by the window, at the rates of its length', (t) => {
  t.is(bound({ model: 'm', messages: 'x'.repeat(20_000), max_tokens: 10 }).nano, 10_000 * 3000 + 10 * 6000)
})

test('a bound counts where its format is read, and a response without one may say all that the model can', (t) => {
  for (const [operation, fields, output] of [
    ['createModelResponse', { max_output_tokens: 50, n: 2 }, 100],
    ['createModelResponse', { max_output_tokens: 50, max_tokens: 70 }, 70],
    ['createModelResponse', { generationConfig: { maxOutputTokens: 50 } }, 4000],
    ['createModelResponse', { input: 'hello' }, 4000],
    ['complete', { max_tokens: 10, best_of: 3 }, 30],
  ] as const) {
    const { nano, bytes } = bound({ model: 'm', ...fields }, { operation })
    t.is(nano, bytes * 1000 + output * 2000, JSON.stringify(fields))
  }
})

test('what is sent by name may fill the window', (t) => {
  t.is(bound({ model: 'm', messages: [], previous_response_id: 'r', max_tokens: 10 }).nano, 10_000 * 3000 + 10 * 6000)
})

test('written caches, priority, searches and dear places are taken at their rates', (t) => {
  const written = bound({ model: 'm', messages: [{ cache_control: { ttl: '1h' } }], max_tokens: 1 })
  t.is(written.nano, written.bytes * 2000 + 2000)
  const first = bound({ model: 'm', messages: [], max_tokens: 1, service_tier: 'priority' })
  t.is(first.nano, first.bytes * 2000 + 4000)
  const searching = bound({ model: 'm', messages: [], max_tokens: 1, tools: [{ type: 'web_search' }] })
  // What it finds may fill the window.
  t.is(searching.nano, 10_000 * 3000 + 6000 + 5 * 10_000_000)
  const abroad = bound({ model: 'abroad', messages: [], max_tokens: 10 })
  t.is(abroad.nano, abroad.bytes * 1100 + 10 * 2200)
})

test('models of OpenAI write prompts into their caches unasked, Bedrock where a request marks a point', (t) => {
  const unasked = bound({ model: 'gpt-5.6', messages: [], max_tokens: 1 })
  t.is(unasked.nano, unasked.bytes * 1250 + 2000)
  const marked = bound({ model: 'm', messages: [{ content: [{ cachePoint: { type: 'default' } }] }], max_tokens: 1 })
  t.is(marked.nano, marked.bytes * 1250 + 2000)
})

test('typical: a picture counts by what it is, and what is named from elsewhere may fill the window', (t) => {
  const picture = { role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(9000)}` } }] }
  const seen = bound({ model: 'plain', messages: [picture], max_tokens: 1 }, { policy: 'typical' })
  t.is(seen.nano, (Math.ceil((seen.bytes - 9022) / 3) + 1600) * 1000 + 2000)
  const filed = { role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }
  const open = { max_tokens: 1, messages: [filed] }
  t.is(bound({ model: 'plain', ...open }, { policy: 'typical' }).nano, 10_000 * 1000 + 2000)
  for (const policy of ['typical', 'strict'] as const) t.is(bound({ model: 'reads-less', ...open }, { policy }).nano, 8000 * 1000 + 2000)
  const tool = { model: 'plain', messages: [], max_tokens: 1, tools: [{ parameters: { properties: { file_id: { type: 'string' } } } }] }
  const free = bound(tool, { policy: 'typical' })
  t.is(free.nano, Math.ceil(free.bytes / 3) * 1000 + 2000, 'a parameter of a tool is no file')
})

test('typical: what was said before counts nothing beside the body; strict: it may fill the window', (t) => {
  for (const before of [{ previous_response_id: 'resp_1' }, { conversation: 'conv_1' }]) {
    const json = { model: 'plain', input: 'a', max_output_tokens: 1, ...before }
    const { nano, bytes } = bound(json, { operation: 'createModelResponse', policy: 'typical' })
    t.is(nano, Math.ceil(bytes / 3) * 1000 + 2000)
    t.is(bound(json, { operation: 'createModelResponse' }).nano, 10_000 * 1000 + 2000)
  }
})

const drawing = (tool: object, more: object = {}) => ({
  model: 'm',
  messages: [],
  max_tokens: 1,
  tools: [{ type: 'image_generation', ...tool }],
  ...more,
})
const inCode = (memory: object) => ({
  model: 'm',
  messages: [],
  max_tokens: 1,
  tools: [{ type: 'code_interpreter', container: { type: 'auto', ...memory } }],
})

test('a tool that draws reserves the dearest image that it may draw, and containers of code their memory', (t) => {
  for (const [json, policy, dollars] of [
    [drawing({ model: 'pictures' }), 'typical', 0.04],
    [drawing({ model: 'pictures' }), 'strict', 0.2],
    [drawing({ model: 'pictures' }, { max_tool_calls: 2 }), 'strict', 0.08],
    // 6,240 tokens at the rate of output
    [drawing({ model: 'plain' }), 'typical', 0.01248],
  ] as const) {
    const { nano, bytes } = bound(json, { policy })
    const plain = (policy === 'strict' ? bytes : Math.ceil(bytes / 3)) * 1000 + 2000
    t.is(nano, plain + Math.round(dollars * 1e9), JSON.stringify(json))
  }
  t.is(bound(drawing({ model: 'unknown' })).nano, null, 'nobody knows what it costs')
  for (const [memory, gigabytes] of [
    [{}, 1],
    [{ memory_limit: '16g' }, 16],
  ] as const) {
    t.is(bound(inCode(memory)).nano, 10_000 * 3000 + 6000 + gigabytes * 30_000_000)
  }
})

const pdf = 'JVBERi0x'
const window = 10_000 * 3000 + 10 * 6000
const tool = (fields: object) => ({ model: 'm', messages: [], max_tokens: 10, tools: [fields] })
const said = (part: object) => ({ model: 'm', messages: [{ role: 'user', content: [part] }], max_tokens: 10 })

/** What reaches a model and is not in the body, or is packed in it: strict expects the window to be full. */
const beyond: Readonly<Record<string, object>> = {
  'url context of Gemini': tool({ urlContext: {} }),
  'url context, as it is written too': tool({ url_context: {} }),
  "Google's search": tool({ googleSearch: {} }),
  'a server of MCP': tool({ type: 'mcp', server_url: 'https://mcp.example' }),
  'a page that Claude fetches': tool({ type: 'web_fetch_20250910', name: 'web_fetch' }),
  'contents that are kept at the provider': { model: 'm', contents: [], cachedContent: 'cachedContents/1', max_tokens: 10 },
  'a PDF of Anthropic': said({ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf } }),
  'a PDF of responses': {
    model: 'm',
    input: [{ role: 'user', content: [{ type: 'input_file', file_data: `data:application/pdf;base64,${pdf}` }] }],
    max_tokens: 10,
  },
  'a PDF of Gemini': { model: 'm', contents: [{ parts: [{ inlineData: { mimeType: 'application/pdf', data: pdf } }] }], max_tokens: 10 },
  'a PDF of Bedrock': said({ document: { format: 'pdf', name: 'a', source: { bytes: pdf } } }),
  'a film of Gemini': { model: 'm', contents: [{ parts: [{ inlineData: { mimeType: 'video/mp4', data: pdf } }] }], max_tokens: 10 },
  'a PDF of Mistral': said({ type: 'document_url', document_url: `data:application/pdf;base64,${pdf}` }),
  'sound of Gemini that is packed': {
    model: 'm',
    contents: [{ parts: [{ inlineData: { mimeType: 'audio/flac', data: pdf } }] }],
    max_tokens: 10,
  },
}
for (const [name, json] of Object.entries(beyond))
  test(`strict: what the body does not show may fill the window: ${name}`, (t) => {
    t.true((bound(json).nano ?? 0) >= window, String(bound(json).nano))
  })

test('strict: pages that Claude fetches are bounded by what its tool says, words in a document by their bytes, and each picture counts', (t) => {
  const fetched = tool({ type: 'web_fetch_20250910', name: 'web_fetch', max_uses: 2, max_content_tokens: 1000 })
  const words = said({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' } })
  const pictures = {
    model: 'm',
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0K' } }] }],
    max_tokens: 10,
  }
  for (const [json, more] of [
    [fetched, 2000],
    [words, 0],
  ] as const) {
    const { nano, bytes } = bound(json)
    t.is(nano, (bytes + more) * 1000 + 10 * 2000)
  }
  const { nano, bytes } = bound(pictures)
  t.is(nano, (bytes + 5000) * 3000 + 10 * 6000)
})

test('each of several inputs has a window of its own, and each of several instances its images', (t) => {
  const text = 'x'.repeat(9000)
  const { nano, bytes } = bound({ model: 'm', input: Array.from({ length: 10 }, () => text) }, { operation: 'embed' })
  t.is(nano, bytes * 3000)
  t.is(bound({ model: 'm', input: text.repeat(2) }, { operation: 'embed' }).nano, 10_000 * 3000, 'one input')
  for (const json of [
    { n: 6 },
    { parameters: { sampleCount: 6 } },
    { instances: [{}, {}], parameters: { sampleCount: 3 } },
    { imageGenerationConfig: { numberOfImages: 6 } },
    { num_images: 6 },
  ])
    t.is(bound({ model: 'pictures', ...json }, { operation: 'imageGenerate' }).nano, 240_000_000, JSON.stringify(json))
})

test('a search counts a unit for each hundred documents', (t) => {
  const documents = Array.from({ length: 201 }, () => 'a')
  t.is(bound({ model: 'ranks', query: 'q', documents }, { task: 'rerank' }).nano, 6_000_000)
  t.is(bound({ model: 'ranks', query: 'q', documents: ['a'] }, { task: 'rerank' }).nano, 2_000_000)
})

test('pieces are bounded by their number', (t) => {
  t.is(bound({ model: 'pictures', prompt: 'p', n: 4 }, { operation: 'imageGenerate' }).nano, 160_000_000)
  t.is(bound({ model: 'voice', input: 'hello' }, { operation: 'createSpeech' }).nano, 5 * 15_000)
})

test('free models and operations without a model cost 0, an unknown model has no bound', (t) => {
  t.is(bound({ model: 'free', messages: [] }).nano, 0)
  t.is(bound({ model: 'm', messages: [] }, { operation: 'countTokens' }).nano, 0)
  t.is(bound({}, { operation: 'createBatch' }).nano, 0)
  t.is(bound({ model: 'nobody', messages: [] }).nano, null)
})

/** Bodies of which a part comes many times. */
const manyParts: Readonly<
  Record<string, readonly [part: (at: number) => unknown, body: (parts: readonly unknown[]) => object, asked?: Asked]>
> = {
  'tools that run code': [
    () => ({ type: 'code_interpreter' }),
    (tools) => ({ model: 'm', input: 'a', tools }),
    { operation: 'createModelResponse' },
  ],
  'tools that draw': [
    () => ({ type: 'image_generation' }),
    (tools) => ({ model: 'm', input: 'a', tools }),
    { operation: 'createModelResponse' },
  ],
  'models beside parts of a message': [
    () => 'm',
    (models) => ({ model: 'm', messages: [{ role: 'user', content: models.map(() => ({ type: 'text', text: 'a' })) }], models }),
    { providerId: 'openrouter' },
  ],
  'models beside pictures': [
    () => 'm',
    (models) => ({
      model: 'm',
      messages: [{ role: 'user', content: models.map(() => ({ type: 'image_url', image_url: { url: 'data:,' } })) }],
      models,
    }),
    { providerId: 'openrouter' },
  ],
  'parts of a message': [() => ({ type: 'text', text: '' }), (content) => ({ model: 'm', messages: [{ role: 'user', content }] })],
  pictures: [
    () => ({ type: 'image_url', image_url: { url: 'data:,' } }),
    (content) => ({ model: 'm', messages: [{ role: 'user', content }] }),
  ],
}

/** Returns the feed of a body of about so many bytes. */
const fed =
  ([part, body, asked]: (typeof manyParts)[string]) =>
  (bytes: number) => {
    const json = body(Array.from({ length: bytes / 24 }, (_, at) => part(at)))
    return () => bound(json, asked)
  }

for (const [name, parts] of Object.entries(manyParts))
  test.serial(`a reservation for many parts takes time and memory in proportion to the bytes: ${name}`, async (t) => {
    t.is(await faultOf(fed(parts)), null)
  })

const listing = (models: readonly string[]) => bound({ model: 'm', messages: [], models }, { providerId: 'openrouter' }).nano

test('a request that lists more models than any provider tries has no bound', (t) => {
  t.true((listing(['plain', 'm', 'plain']) ?? 0) > 0)
  t.is(listing(Array.from({ length: 20 }, (_, at) => (at === 0 ? 'plain' : `m${at}`))), null)
})
