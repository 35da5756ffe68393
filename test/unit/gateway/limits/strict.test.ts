// A strict limit: a request never costs more than is reserved for it, or its price is not known. Figures are worked out by hand, in nano-US-dollars.
import test from 'ava'
import { faultOf } from '../../../support/doors/door.ts'
import { type Asked, bound } from '../../../support/limits/bound.ts'

const chat = (fields: object) => ({ model: 'plain', messages: [], max_tokens: 10, ...fields })
const withTool = (tool: object) => chat({ tools: [tool] })

/** Requests with work that no figure bounds. */
const open: Readonly<Record<string, readonly [json: object, asked?: Asked]>> = {
  'a model that researches by itself': [chat({ model: 'sonar-deep-research' }), { providerId: 'perplexity-ai' }],
  'a model that hands requests on to others': [chat({ model: 'model-router' }), { providerId: 'azure-openai' }],
  'the web by the name of a model': [chat({ model: 'plain:online' }), { providerId: 'openrouter' }],
  'a dearer host by the name of a model': [chat({ model: 'plain:nitro' }), { providerId: 'openrouter' }],
  'settings at the provider by the name of a model': [chat({ model: 'plain@preset/mine' }), { providerId: 'openrouter' }],
  'a model of a list that searches the web': [chat({ models: ['plain:online'] }), { providerId: 'openrouter' }],
  'settings at the provider': [chat({ preset: 'mine' }), { providerId: 'openrouter' }],
  'a template at the provider': [{ model: 'plain', prompt: { id: 'pmpt_1' } }, { operation: 'createModelResponse' }],
  'an agent at the provider': [chat({ agent_reference: { name: 'a', type: 'agent_reference' } })],
  'the web by a plugin': [chat({ plugins: [{ id: 'web' }] }), { providerId: 'openrouter' }],
  'files that a plugin reads': [chat({ plugins: [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }] }), { providerId: 'openrouter' }],
  'a plugin by its name': [chat({ plugins: ['plugin_web_search'] })],
  'hosts in an order': [chat({ provider: { order: ['dear'] } }), { providerId: 'openrouter' }],
  'the fastest host': [chat({ provider: { sort: 'throughput' } }), { providerId: 'openrouter' }],
  'models of a gateway': [chat({ providerOptions: { gateway: { models: ['dear'] } } }), { providerId: 'openrouter' }],
  'models that answer next': [chat({ fallbacks: [{ model: 'dear' }] }), { providerId: 'anthropic' }],
  'documents that a provider searches': [chat({ data_sources: [{ type: 'azure_search' }] }), { providerId: 'azure-openai' }],
  'a search that a field turns on': [chat({ enable_search: true }), { providerId: 'dashscope' }],
  'the same, where its parameters have it': [chat({ parameters: { enable_search: true } }), { providerId: 'dashscope' }],
  'the same, among the options of a format': [chat({ provider_options: { openai: { enable_search: true } } })],
  'a search in several steps': [chat({ model: 'sonar', web_search_options: { search_type: 'pro' } }), { providerId: 'perplexity-ai' }],
  'a conversation that is made shorter': [chat({ context_management: { edits: [{ type: 'compact_20260112' }] } })],
  'the same of responses': [chat({ context_management: [{ type: 'compaction', compact_threshold: 1000 }] })],
  'a tool that asks another model': [withTool({ type: 'advisor_20260301', name: 'advisor', model: 'dear' }), { providerId: 'anthropic' }],
  'a tool of OpenRouter': [withTool({ type: 'openrouter:web_search' }), { providerId: 'openrouter' }],
  'a function of the provider': [withTool({ type: 'builtin_function', function: { name: '$web_search' } })],
  'a tool that Google names by a field': [withTool({ parallelAiSearch: {} }), { providerId: 'vertex-ai' }],
  'a tool of Nova': [
    { model: 'plain', messages: [], toolConfig: { tools: [{ systemTool: { name: 'nova_grounding' } }] } },
    { providerId: 'bedrock' },
  ],
  'a tool in the input': [
    { model: 'plain', input: [{ type: 'additional_tools', tools: [{ type: 'unheard_of' }] }] },
    { operation: 'createModelResponse' },
  ],
  'a tool in a group': [withTool({ type: 'namespace', name: 'a', tools: [{ type: 'unheard_of' }] })],
  'a known tool without a fee': [withTool({ type: 'web_search' }), { providerId: 'groq' }],
  'a tool of a free model': [{ ...withTool({ type: 'web_search' }), model: 'free' }],
  'a tier without a price': [chat({ service_tier: 'priority' })],
  'a tier without a price, by header': [chat({}), { providerId: 'bedrock', headers: ['X-Amzn-Bedrock-Service-Tier', 'priority'] }],
  'latency without a price, by header': [
    chat({}),
    { providerId: 'bedrock', headers: ['x-amzn-bedrock-performanceconfig-latency', 'optimized'] },
  ],
  'latency without a price': [chat({ performanceConfig: { latency: 'optimized' } }), { providerId: 'bedrock' }],
  'a model whose answers have no price': [chat({ model: 'reads-by-token' })],
  'images without a price': [chat({ model: 'draws-image-unpriced' }), { providerId: 'openrouter' }],
}
for (const [name, [json, asked]] of Object.entries(open))
  test(`the price is not known: ${name}`, (t) => {
    t.is(bound(json, asked).nano, null)
  })

/** Requests as clients send them every day. */
const ordinary: Readonly<Record<string, readonly [json: object, asked?: Asked]>> = {
  'unknown fields': [chat({ unheard_of: { a: [1] }, user: 'u', metadata: { plugins: 'x' }, store: false, prompt_cache_key: 'a' })],
  'functions of a chat': [withTool({ type: 'function', function: { name: 'web_search', parameters: {} } })],
  'functions of responses': [withTool({ type: 'function', name: 'a', parameters: {}, strict: true })],
  'free text for a tool': [withTool({ type: 'custom', name: 'apply' })],
  'a tool of Claude without a type': [withTool({ name: 'a', description: 'b', input_schema: { type: 'object' }, defer_loading: true })],
  'tools of Claude that the caller runs': [
    chat({
      tools: [
        { type: 'bash_20250124', name: 'bash' },
        { type: 'memory_20250818', name: 'memory' },
      ],
    }),
  ],
  'functions of Gemini': [{ model: 'plain', contents: [], tools: [{ functionDeclarations: [{ name: 'a' }], googleSearch: null }] }],
  'tools of Bedrock': [
    { model: 'plain', messages: [], toolConfig: { tools: [{ toolSpec: { name: 'a' } }, { cachePoint: { type: 'default' } }] } },
  ],
  'code that Claude runs': [withTool({ type: 'code_execution_20250825', name: 'code_execution' }), { providerId: 'anthropic' }],
  'code that Gemini runs': [{ model: 'plain', contents: [], tools: [{ codeExecution: {} }, { urlContext: {} }] }, { providerId: 'google' }],
  'a shell of the caller': [withTool({ type: 'shell', environment: { type: 'local' } })],
  'what OpenRouter takes from every client': [
    chat({ models: ['m'], provider: { allow_fallbacks: false, data_collection: 'deny', sort: 'price' }, transforms: [], plugins: [] }),
    { providerId: 'openrouter' },
  ],
  'a plugin that is free': [chat({ plugins: [{ id: 'response-healing' }, { id: 'web', enabled: false }] }), { providerId: 'openrouter' }],
  'edits of a conversation that cost nothing': [chat({ context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } })],
  'an open tier': [chat({ service_tier: 'auto' })],
  'a discount': [chat({ service_tier: 'flex' })],
  'a search of Perplexity': [chat({ model: 'sonar', web_search_options: { search_context_size: 'low' } }), { providerId: 'perplexity-ai' }],
}
for (const [name, [json, asked]] of Object.entries(ordinary))
  test(`what clients send every day has a price: ${name}`, (t) => {
    t.true((bound(json, asked).nano ?? 0) > 0)
  })

/** Places of which a provider reads the fields as those of the request. */
const places: Readonly<Record<string, (fields: object) => object>> = {
  'the options of a format': (fields) => ({ provider_options: { google: fields } }),
  'the extra body': (fields) => ({ extra_body: fields }),
  'the extra body for a provider': (fields) => ({ extra_body: { google: fields } }),
  parameters: (fields) => ({ parameters: fields }),
  'the fields of Bedrock': (fields) => ({ additionalModelRequestFields: fields }),
  'the extra body of a format': (fields) => ({ provider_options: { openai: { extra_body: fields } } }),
}
/** Fields by which a request costs more than it shows. */
const adding: readonly object[] = [
  { cachedContent: 'cachedContents/a' },
  { cached_content: 'cachedContents/a' },
  { search_parameters: { mode: 'on', max_search_results: 50 } },
  { mcp_servers: [{ type: 'url', url: 'https://mcp.example/sse', name: 'a' }] },
  { previous_response_id: 'resp_1' },
  { web_search_options: {} },
  { plugins: [{ id: 'web' }] },
  { preset: 'mine' },
  { service_tier: 'priority' },
  { max_tokens: 3000 },
  { tools: [{ type: 'web_search' }] },
]
for (const [name, holding] of Object.entries(places))
  test(`fields that add to a request count among others: ${name}`, (t) => {
    for (const fields of adding) {
      const plain = bound(chat({ model: 'm', max_tokens: undefined, ...fields })).nano
      const held = bound(chat({ model: 'm', max_tokens: undefined, ...holding(fields) })).nano
      const base = bound(chat({ model: 'm' })).nano ?? 0
      if (plain === null) t.is(held, null, JSON.stringify(fields))
      else t.true((held ?? Infinity) >= plain && plain > 2 * base, JSON.stringify([fields, held, plain]))
    }
  })

const continued = (fields: object) => bound(chat({ model: 'm', previous_response_id: 'r', ...fields })).nano ?? 0
test('the largest number counts that any of them names', (t) => {
  const searching = { max_tool_calls: 1, tools: [{ type: 'web_search' }] }
  t.is(continued({ ...searching, extra_body: { max_tool_calls: 9 } }) - continued(searching), 4 * 10_000_000)
  t.is(continued({ n: 1, extra_body: { n: 3 } }) - continued({ n: 1 }), 20 * 6000)
})

const response = { operation: 'createModelResponse' } as const
const said = (part: object) => ({ model: 'hears', contents: [{ parts: [part] }], max_tokens: 10 })
const asked = (input: readonly object[]) => ({ model: 'plain', input, max_output_tokens: 10 })
const recording = { file_data: { file_uri: 'gs://a/b', mime_type: 'audio/mp3' } }

/** Requests whose cost does not depend on the length of their body. */
const fixed: Readonly<Record<string, readonly [nano: number, json: object, asked?: Asked]>> = {
  // The window of 10,000 tokens, and 10 of output.
  'an item by its id': [10_000 * 1000 + 10 * 2000, asked([{ type: 'item_reference', id: 'msg_1' }]), response],
  'the same without a type': [10_000 * 1000 + 10 * 2000, asked([{ id: 'msg_1' }]), response],
  'thoughts by their id': [10_000 * 1000 + 10 * 2000, asked([{ type: 'reasoning', id: 'rs_1', summary: [] }]), response],
  'an image by its id': [10_000 * 1000 + 10 * 2000, asked([{ type: 'image_generation_call', id: 'ig_1' }]), response],
  // Sound by its address is read at the rate of sound.
  'a recording of Gemini by its address': [10_000 * 4000 + 10 * 2000, said({ fileData: { fileUri: 'gs://a/b', mimeType: 'audio/mp3' } })],
  'the same in snake case': [10_000 * 4000 + 10 * 2000, said(recording)],
  'a file of Gemini of no known type': [10_000 * 4000 + 10 * 2000, said({ fileData: { fileUri: 'gs://a/b' } })],
  'a document of Gemini by its address': [
    10_000 * 1000 + 10 * 2000,
    said({ fileData: { fileUri: 'gs://a/b', mimeType: 'application/pdf' } }),
  ],
  'a recording in the instructions': [
    10_000 * 4000 + 10 * 2000,
    { model: 'hears', contents: [], system_instruction: { parts: [recording] }, max_tokens: 10 },
  ],
  'what was heard before': [
    10_000 * 4000 + 10 * 2000,
    { model: 'hears', input: 'a', previous_response_id: 'r', max_output_tokens: 10 },
    response,
  ],
  'sound that was said before': [
    10_000 * 4000 + 10 * 2000,
    { model: 'hears', messages: [{ role: 'assistant', audio: { id: 'audio_1' } }], max_tokens: 10 },
  ],
  // A model without a known window may have the longest.
  'a file for a model without a known window': [
    2_000_000 * 1000 + 10 * 8000,
    { model: 'thinks', messages: [{ content: [{ file_id: 'f' }] }], max_tokens: 10 },
  ],
  // 150 bytes of each document in 500 - 100 tokens: one piece for each of 100, so one unit; 900 bytes are three pieces, so three units.
  'a search among short documents': [
    2_000_000,
    { model: 'ranks', query: 'q'.repeat(100), documents: Array.from({ length: 100 }, () => 'd'.repeat(150)) },
    { task: 'rerank' },
  ],
  'a search among long documents': [
    6_000_000,
    { model: 'ranks', query: 'q'.repeat(100), documents: Array.from({ length: 100 }, () => ({ text: 'd'.repeat(900) })) },
    { task: 'rerank' },
  ],
  'a search among records': [
    4_000_000,
    { model: 'ranks', query: 'q', records: Array.from({ length: 101 }, () => ({ content: 'd' })) },
    { task: 'rerank' },
  ],
}
for (const [name, [nano, json, with_]] of Object.entries(fixed))
  test(`what the body does not bound is reserved: ${name}`, (t) => {
    t.is(bound(json, with_).nano, nano)
  })

/** Requests at a rate for each byte of their body, for each of 10 tokens of output, and other costs. */
const rated: Readonly<Record<string, readonly [byte: number, token: number, other: number, json: object, asked?: Asked]>> = {
  'a model that may draw': [1000, 30_000, 0, chat({ model: 'draws-image' })],
  'a model that gives words alone': [1000, 2000, 0, chat({ model: 'words-alone' })],
  'thoughts that cost more than words': [1000, 8000, 0, chat({ model: 'thinks' })],
  'sound that costs less than words': [1000, 2000, 0, chat({ model: 'hears', modalities: ['audio'] })],
  'a document in the body is no sound': [
    1000,
    2000,
    0,
    chat({ model: 'hears', messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }] }),
  ],
  'a tier by a header of Vertex': [
    2000,
    4000,
    0,
    chat({ model: 'm' }),
    { providerId: 'vertex-ai', headers: ['X-Vertex-AI-LLM-Shared-Request-Type', 'priority'] },
  ],
  'a tier by a header that is stored': [
    2000,
    4000,
    0,
    chat({ model: 'm' }),
    { customHeaders: { 'x-amzn-bedrock-service-tier': 'Priority' } },
  ],
  // 131 bytes of JSON
  'a predicted answer': [1000, 2000, 131 * 2000, chat({ prediction: { type: 'content', content: 'x'.repeat(100) } })],
  'words by which Claude is told of tools': [1000, 2000, 346 * 1000, chat({ model: 'claude-plain', tools: [{ name: 'a' }] })],
  'words by which Claude is told of its own tools': [
    1000,
    2000,
    (346 + 245 + 735) * 1000,
    chat({ model: 'claude-plain', tools: [{ type: 'bash_20250124' }, { type: 'computer_20250124' }] }),
  ],
  'a tier by another name': [2000, 4000, 0, chat({ model: 'm', service_tier: 'fast' })],
  'a mark in escapes': [
    1250,
    2000,
    0,
    chat({ model: 'm', cache_control: {} }),
    { written: '{"model":"m","messages":[],"max_tokens":10,"\\u0063ache_control":{}}' },
  ],
  'sound in escapes': [
    4000,
    2000,
    0,
    chat({ model: 'hears', a: 'input_audio' }),
    { written: '{"model":"hears","messages":[],"max_tokens":10,"a":"\\u0069nput_audio"}' },
  ],
  'a search of Perplexity of no known size': [1000, 2000, 12_000_000, chat({ model: 'sonar' }), { providerId: 'perplexity-ai' }],
  // 3840 x 2160 pixels, 7,334 tokens for each 1,048,576 of them: 58,014 tokens, five times
  'a large image that a tool draws': [
    1000,
    2000,
    58_014 * 5 * 30_000,
    withTool({ type: 'image_generation', model: 'image-tokens', size: '3840x2160' }),
  ],
  'the dearer of two tools that draw': [
    1000,
    2000,
    7334 * 5 * 30_000,
    chat({
      tools: [
        { type: 'image_generation', model: 'pictures' },
        { type: 'image_generation', model: 'image-tokens' },
      ],
    }),
  ],
}
for (const [name, [byte, token, other, json, with_]] of Object.entries(rated))
  test(`the dearest rate is reserved: ${name}`, (t) => {
    const { nano, bytes } = bound(json, with_)
    t.is(nano, bytes * byte + 10 * token + other)
  })

test('speech by the token has twelve for a character, and more where its manner is told', (t) => {
  for (const [manner, tokens] of [
    [{}, 5 * 12],
    [{ instructions: 'slowly' }, 8192],
  ] as const) {
    const { nano, bytes } = bound({ model: 'says', input: 'hello', voice: 'alloy', ...manner }, { operation: 'createSpeech' })
    t.is(nano, bytes * 1000 + tokens * 12_000)
  }
})

test('an image of the largest size has its tokens', (t) => {
  for (const [size, tokens] of [
    ['1024x1536', 7334],
    ['3840x2160', 58_014],
  ] as const) {
    const { nano, bytes } = bound({ model: 'image-tokens', prompt: 'p', size }, { operation: 'imageGenerate' })
    t.is(nano, bytes * 1000 + tokens * 30_000, size)
  }
})

test('models that are sold by the token read the query with each document', (t) => {
  const json = { model: 'reads-by-token', query: 'q'.repeat(100), documents: ['a', 'b', 'c'] }
  const { nano, bytes } = bound(json, { task: 'rerank' })
  t.is(nano, (bytes + 2 * 100) * 1000)
})

/** A picture takes 5,000 tokens at most, and again with each document where the query is one. Contents outside the body may have any size. */
const picturesAsTexts: Readonly<Record<string, readonly [pictures: number, json: object, task: 'rerank' | 'embedding']>> = {
  'a document of a search': [1, { query: 'q', documents: [{ image: 'data:image/png;base64,AAAA' }, 'a'] }, 'rerank'],
  'the query of a search': [1 + 1, { query: { image: 'AAAA' }, documents: ['a', 'b'] }, 'rerank'],
  'an input of an embedding': [2, { input: [{ image: 'AAAA' }, { image: 'data:image/png;base64,AAAA' }] }, 'embedding'],
  'contents of an input': [1, { inputs: [{ content: [{ type: 'image_base64', image_base64: 'data:image/png;base64,AA' }] }] }, 'embedding'],
}
for (const [name, [pictures, json, task]] of Object.entries(picturesAsTexts))
  test(`a picture that is written as a text is reserved as a picture: ${name}`, (t) => {
    const { nano, bytes } = bound({ model: 'reads-by-token', ...json }, { task })
    const repeated = 'query' in json ? Buffer.byteLength(typeof json.query === 'string' ? json.query : 'AAAA') : 0
    t.is(nano, (bytes + repeated + pictures * 5000) * 1000)
  })

for (const [name, input] of Object.entries({
  'a picture by its address': { image: 'https://a.example/b.png' },
  'a film': { content: [{ type: 'video_base64', video_base64: 'AAAA' }] },
  'a document': { pdf: 'AAAA' },
}))
  test(`an input of unknown size is reserved as the longest: ${name}`, (t) => {
    t.is(bound({ model: 'reads-by-token', input: [input] }, { task: 'embedding' }).nano, 2_000_000 * 1000)
  })

test('the uses of a tool count less than five only where they are read', (t) => {
  for (const [type, calls] of [
    ['web_search_20250305', 1],
    ['web_search', 5],
  ] as const) {
    const { nano } = bound({ ...withTool({ type, name: 'web_search', max_uses: 1 }), model: 'm' }, { providerId: 'anthropic' })
    t.is(nano, 10_000 * 3000 + 10 * 6000 + calls * 10_000_000, type)
  }
})

test('a typical limit expects what it did of such requests', (t) => {
  for (const json of [chat({ preset: 'mine' }), withTool({ type: 'unheard_of' }), chat({ service_tier: 'priority' })]) {
    const { nano, bytes } = bound(json, { policy: 'typical' })
    t.is(nano, Math.ceil(bytes / 3) * 1000 + 10 * 2000)
  }
})

/** Bodies of which a part comes many times. */
const manyParts: Readonly<
  Record<string, readonly [part: (at: number) => unknown, body: (parts: readonly unknown[]) => object, asked?: Asked]>
> = {
  'tools that draw, which differ': [(at) => ({ type: 'image_generation', model: `m${at}` }), (tools) => chat({ tools })],
  'unknown fields': [(at) => [`f${at}`, { a: 1 }], (fields) => chat(Object.fromEntries(fields as readonly [string, unknown][]))],
  'items by their ids': [(at) => ({ id: `m${at}` }), (input) => ({ model: 'plain', input }), response],
  'documents of a search': [
    () => 'a document of the search',
    (documents) => ({ model: 'ranks', query: 'q', documents }),
    { task: 'rerank' },
  ],
  escapes: [(at) => ({ a: `\\u00e9${at}` }), (messages) => chat({ model: 'm', messages })],
}

/** Returns the feed of a body of about so many bytes. */
const fed =
  ([part, body, with_]: (typeof manyParts)[string]) =>
  (bytes: number) => {
    const json = body(Array.from({ length: bytes / 24 }, (_, at) => part(at)))
    return () => bound(json, with_)
  }

for (const [name, parts] of Object.entries(manyParts))
  test.serial(`a strict reservation takes time and memory in proportion to the bytes: ${name}`, async (t) => {
    t.is(await faultOf(fed(parts)), null)
  })
