import type { Charged } from './charges.ts'

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const wrapped = (result: object) => ({ result, success: true, errors: [], messages: [] })
const texts = { input: ['a text', 'another'] }
const ranking = { query: 'sun?', documents: ['rain', 'sun'] }
const order = [
  { index: 1, relevance_score: 0.9 },
  { index: 0, relevance_score: 0.1 },
]
const [embeddings, rerank] = ['/v1/embeddings', '/v1/rerank']
const [images, speech, transcriptions] = ['/v1/images/generations', '/v1/audio/speech', '/v1/audio/transcriptions']
const sound = { file: 'a.mp3' }

/** The same for work that is no conversation, in the form of providers of other formats than the caller's. */
export const taskCharges: Readonly<Record<string, Charged>> = {
  // 0.12
  "Oracle's embeddings": {
    provider: 'oracle',
    model: 'cohere.embed-v4.0',
    path: embeddings,
    body: texts,
    answer: {
      id: 'e',
      modelId: 'cohere.embed-v4.0',
      embeddings: [[1], [2]],
      usage: { promptTokens: 100, completionTokens: 0, totalTokens: 100 },
    },
    lines: { input: 100 },
    amount: '12000000',
  },
  // 0.012
  "Workers AI's own embeddings": {
    provider: 'workers-ai',
    model: '@cf/baai/bge-m3',
    path: embeddings,
    body: { ...texts, provider_options: { 'workers-ai': { pooling: 'cls' } } },
    answer: wrapped({ shape: [2, 1], data: [[1], [2]], usage: { prompt_tokens: 100, total_tokens: 100 } }),
    lines: { input: 100 },
    amount: '1200000',
  },
  // 0.003
  'Workers AI orders texts by the token': {
    provider: 'workers-ai',
    model: '@cf/baai/bge-reranker-base',
    path: rerank,
    body: ranking,
    answer: wrapped({
      response: order.map(({ index, relevance_score: score }) => ({ id: index, score })),
      usage: { prompt_tokens: 100, total_tokens: 100 },
    }),
    lines: { input: 100 },
    amount: '300000',
  },
  // 7,500,000 for a second: 62.5 of them
  'Whisper at Workers AI is paid by the second': {
    provider: 'workers-ai',
    model: '@cf/openai/whisper',
    path: transcriptions,
    form: sound,
    answer: wrapped({ text: 'hi', transcription_info: { language: 'en', duration: 62.5 }, segments: [] }),
    lines: { input_audio_second: 62_500 },
    amount: '468750000',
  },
  // 0.12
  "Cohere's embeddings, for a caller of OpenAI's": {
    provider: 'cohere',
    model: 'embed-v4.0',
    path: embeddings,
    body: texts,
    answer: { id: 'e', embeddings: { float: [[1], [2]] }, texts: texts.input, meta: { billed_units: { input_tokens: 100 } } },
    lines: { input: 100 },
    amount: '12000000',
  },
  // 2,000,000,000 for a search
  "Cohere's rerank": {
    provider: 'cohere',
    model: 'rerank-v3.5',
    path: rerank,
    body: ranking,
    answer: { id: 'r', results: order, meta: { billed_units: { search_units: 1 } } },
    lines: { search_unit: 1 },
    amount: '2000000000',
  },
  // 0.15
  "Mistral's embeddings": {
    provider: 'mistral-ai',
    model: 'codestral-embed',
    path: embeddings,
    body: texts,
    answer: {
      id: 'e',
      object: 'list',
      model: 'codestral-embed',
      data: [
        { object: 'embedding', index: 0, embedding: [1] },
        { object: 'embedding', index: 1, embedding: [2] },
      ],
      usage: { prompt_tokens: 100, completion_tokens: 0, total_tokens: 100 },
    },
    lines: { input: 100 },
    amount: '15000000',
  },
  // 0.02
  "Jina's embeddings": {
    provider: 'jina',
    model: 'jina-embeddings-v2-base-en',
    path: embeddings,
    body: texts,
    answer: {
      object: 'list',
      model: 'jina-embeddings-v2-base-en',
      data: [
        { object: 'embedding', index: 0, embedding: [1] },
        { object: 'embedding', index: 1, embedding: [2] },
      ],
      usage: { total_tokens: 100, prompt_tokens: 100 },
    },
    lines: { input: 100 },
    amount: '2000000',
  },
  // 0.05
  "Jina's rerank by the token": {
    provider: 'jina',
    model: 'jina-reranker-v3',
    path: rerank,
    body: ranking,
    answer: { model: 'jina-reranker-v3', results: order, usage: { total_tokens: 100 } },
    lines: { input: 100 },
    amount: '5000000',
  },
  // 0.05
  "Voyage's rerank by the token": {
    provider: 'voyage',
    model: 'rerank-2.5',
    path: rerank,
    body: ranking,
    answer: { object: 'list', data: order, model: 'rerank-2.5', usage: { total_tokens: 100 } },
    lines: { input: 100 },
    amount: '5000000',
  },
  // 0.10
  "Nomic's embeddings": {
    provider: 'nomic',
    model: 'nomic-embed-text-v1',
    path: embeddings,
    body: texts,
    answer: { embeddings: [[1], [2]], model: 'nomic-embed-text-v1', usage: { prompt_tokens: 100, total_tokens: 100 } },
    lines: { input: 100 },
    amount: '10000000',
  },
  // 30,000,000,000 for an image
  'Stability is paid by the image': {
    provider: 'stability-ai',
    model: 'stable-image-core',
    path: images,
    body: { prompt: 'a sun', n: 2 },
    answer: { image: pixel, finish_reason: 'SUCCESS', seed: 1 },
    lines: { image: 2 },
    amount: '60000000000',
  },
  // 4,300,000,000 for a minute: 62.5 seconds of it
  'Deepgram hears by the minute': {
    provider: 'deepgram',
    model: 'nova-3',
    path: transcriptions,
    form: sound,
    answer: { metadata: { duration: 62.5 }, results: { channels: [{ alternatives: [{ transcript: 'hi', words: [] }] }] } },
    lines: { input_audio_minute: 62_500 },
    // 4,479,166,666 and two thirds
    amount: '4479166667',
  },
  // 30,000,000 for a character
  'Deepgram speaks by the character': {
    provider: 'deepgram',
    model: 'aura-2',
    path: speech,
    body: { input: 'a sun', voice: 'thalia' },
    answer: 'sound',
    answerType: 'audio/mpeg',
    lines: { input_character: 5 },
    amount: '150000000',
  },
  // 80,000,000 for a character
  'ElevenLabs speaks by the character': {
    provider: 'elevenlabs',
    model: 'eleven_multilingual_v2',
    path: speech,
    body: { input: 'a sun', voice: 'rachel' },
    answer: 'sound',
    answerType: 'audio/mpeg',
    lines: { input_character: 5 },
    amount: '400000000',
  },
  // 61,100,000 for a second: the last word ends after 62 of them
  'ElevenLabs hears by the second': {
    provider: 'elevenlabs',
    model: 'scribe_v1',
    path: transcriptions,
    form: sound,
    answer: { language_code: 'eng', text: 'hi', words: [{ text: 'hi', start: 61, end: 62, type: 'word' }] },
    lines: { input_audio_second: 62_000 },
    amount: '3788200000',
  },
  // 0.02: a call for each text
  'Titan tells the tokens of each text': {
    provider: 'bedrock',
    model: 'amazon.titan-embed-text-v2:0',
    path: embeddings,
    body: texts,
    answer: { embedding: [1], inputTextTokenCount: 50 },
    lines: { input: 100 },
    amount: '2000000',
  },
  // 60,000,000,000 for an image
  'Nova Canvas is paid by the image': {
    provider: 'bedrock',
    model: 'amazon.nova-canvas-v1:0',
    path: images,
    body: { prompt: 'a sun', n: 2 },
    answer: { images: [pixel, pixel], error: null },
    lines: { image: 2 },
    amount: '120000000000',
  },
  // 40,000,000,000 for an image
  'Imagen is paid by the image': {
    provider: 'google',
    model: 'imagen-4.0-generate-001',
    path: images,
    body: { prompt: 'a sun', n: 2 },
    answer: { predictions: [{ bytesBase64Encoded: pixel }, { bytesBase64Encoded: pixel }] },
    lines: { image: 2 },
    amount: '80000000000',
  },
  // 0.10
  'Vertex AI tells the tokens of each text': {
    provider: 'vertex-project',
    model: 'text-embedding-005',
    path: embeddings,
    body: texts,
    answer: {
      predictions: [
        { embeddings: { values: [1], statistics: { token_count: 60, truncated: false } } },
        { embeddings: { values: [2], statistics: { token_count: 40, truncated: false } } },
      ],
    },
    lines: { input: 100 },
    amount: '10000000',
  },
}
