import { oracleCredential } from '../../support/dialects/oracle-credential.ts'
import { embedsStrictly, vectorOf } from '../../support/dialects/strict-embeddings.ts'
import type { Lines } from '../talk.ts'
import { type Area, clouds, errorIn, plainError, type TaskAddress } from './area.ts'
import { googleAt, openaiAt, optionsOf } from './clients.ts'

const texts = ['a text', 'another', 'a third']
const vectorLine = (values: ArrayLike<number> | undefined): string => `vector ${Array.from(values ?? []).join(' ')}`
const vectors = texts.map((one) => vectorLine(vectorOf(one)))

/** A program that names no format gets bytes by this client, which it decodes. */
async function askOpenai(address: TaskAddress, more: object = {}, input: string[] = texts): Promise<Lines> {
  const { data, usage } = await openaiAt(address).embeddings.create({
    model: address.model,
    input,
    ...more,
    ...optionsOf(address),
  })
  const isEstimated = Reflect.get(usage, 'estimated') === true
  return [...data.map(({ embedding }) => vectorLine(embedding)), isEstimated ? 'tokens estimated' : `tokens ${usage.prompt_tokens}`]
}

async function askGoogle(address: TaskAddress, config: object = {}, contents: string[] = texts): Promise<Lines> {
  const { embeddings = [] } = await googleAt(address).models.embedContent({ model: address.model, contents, config })
  return embeddings.map(({ values }) => vectorLine(values))
}

const purpose = /^(?:TEXT_RETRIEVAL|RETRIEVAL_QUERY|SEARCH_QUERY|search_query|retrieval\.query|query)$/
const tokens = 'tokens 6'

export const embeddings: Area = {
  title: 'Embeddings',
  tasks: ['embedding'],
  unable: 'anthropic',
  serve: embedsStrictly,
  clients: {
    openai: {
      title: "OpenAI's embeddings",
      refusedAs: '/embeddings',
      cases: {
        'a text': { ask: (address) => askOpenai(address, {}, ['a text']), heard: ['a text'], said: [...vectors.slice(0, 1), 'tokens 2'] },
        texts: { ask: (address) => askOpenai(address), heard: texts, said: [...vectors, tokens] },
        dimensions: { ask: (address) => askOpenai(address, { dimensions: 256 }), heard: [256], said: [...vectors, tokens] },
        purpose: { ask: (address) => askOpenai(address, { input_type: 'query' }), heard: [purpose], said: [...vectors, tokens] },
      },
    },
    google: {
      title: "Google's `embedContent` and `batchEmbedContents`",
      refusedAs: '/embeddings',
      cases: {
        'a text': { ask: (address) => askGoogle(address, {}, ['a text']), heard: ['a text'], said: vectors.slice(0, 1) },
        texts: { ask: (address) => askGoogle(address), heard: texts, said: vectors },
        dimensions: { ask: (address) => askGoogle(address, { outputDimensionality: 256 }), heard: [256], said: vectors },
        purpose: { ask: (address) => askGoogle(address, { taskType: 'RETRIEVAL_QUERY' }), heard: [purpose], said: vectors },
      },
    },
  },
  providers: {
    openai: { title: 'OpenAI', row: 'openai', base: '/openai', model: 'text-embedding-3-small', format: 'embeddings', error: plainError },
    mistral: {
      title: 'Mistral',
      row: 'mistral-ai',
      base: '/mistral',
      model: 'codestral-embed',
      format: 'embeddings/mistral',
      error: errorIn('message'),
    },
    voyage: {
      title: 'Voyage',
      row: 'voyage',
      base: '/voyage',
      model: 'voyage-3.5',
      format: 'embeddings/voyage',
      error: errorIn('detail'),
    },
    jina: {
      title: 'Jina',
      row: 'jina',
      base: '/jina',
      model: 'jina-embeddings-v4',
      format: 'embeddings/jina',
      error: errorIn('detail'),
    },
    workers: { ...clouds.workers, title: 'Workers AI', model: '@cf/baai/bge-m3', format: 'embeddings/plain' },
    'workers-own': {
      ...clouds.workers,
      title: "Workers AI's own",
      model: '@cf/baai/bge-m3',
      format: 'workers-ai',
      clients: ['openai'],
      options: { 'workers-ai': { pooling: 'cls' } },
    },
    oracle: {
      title: 'Oracle',
      row: 'oracle',
      credential: oracleCredential(),
      base: '',
      model: 'cohere.embed-v4.0',
      format: 'oracle',
      error: errorIn('message'),
    },
    nomic: {
      title: 'Nomic',
      row: 'nomic',
      base: '/nomic',
      model: 'nomic-embed-text-v1.5',
      format: 'embeddings/nomic',
      error: errorIn('detail'),
    },
    cohere: { title: 'Cohere', row: 'cohere', base: '/cohere', model: 'embed-v4.0', format: 'cohere', error: errorIn('message') },
    google: { ...clouds.google, title: 'Gemini', base: '/google', model: 'gemini-embedding-001', format: 'google' },
    predict: { ...clouds.vertex, title: 'Vertex AI', base: '/vertex', model: 'text-embedding-005', format: 'google/predict' },
    'predict-one': {
      ...clouds.vertex,
      title: "Vertex AI, Gemini's first",
      base: '/vertex',
      model: 'gemini-embedding-001',
      format: 'google/predict-one',
    },
    'embed-content': {
      ...clouds.vertex,
      title: "Vertex AI, Gemini's later",
      base: '/vertex',
      model: 'gemini-embedding-2-preview',
      format: 'google/embed-content',
    },
    titan: { ...clouds.bedrock, title: 'Bedrock, Titan', base: '/bedrock', model: 'amazon.titan-embed-text-v2:0', format: 'bedrock/titan' },
    nova: {
      ...clouds.bedrock,
      title: 'Bedrock, Nova',
      base: '/bedrock',
      model: 'amazon.nova-2-multimodal-embeddings-v1:0',
      format: 'bedrock/nova',
    },
    'bedrock-cohere': {
      ...clouds.bedrock,
      title: 'Bedrock, Cohere',
      base: '/bedrock',
      model: 'cohere.embed-v4:0',
      format: 'cohere',
    },
    huggingface: {
      title: 'Hugging Face',
      row: 'huggingface',
      base: '/hf',
      model: 'sentence-transformers/all-MiniLM-L6-v2',
      format: 'embeddings/feature-extraction',
      error: errorIn('error'),
    },
    ollama: {
      title: "Ollama's own",
      row: 'ollama',
      base: '/ollama/v1',
      model: 'nomic-embed-text',
      format: 'ollama',
      options: { ollama: { keep_alive: '5m' } },
      error: errorIn('error'),
    },
  },
  departures: [
    {
      note: 'The purpose is dropped and named: the provider has no word for it.',
      providers: ['mistral', 'workers', 'workers-own', 'titan', 'huggingface', 'ollama'],
      clients: ['openai'],
      cases: ['purpose'],
      unheard: [purpose],
      dropped: ['input_type'],
    },
    {
      note: 'The purpose is dropped and named: the provider has no word for it.',
      providers: ['openai', 'mistral', 'workers', 'titan', 'huggingface', 'ollama'],
      clients: ['google'],
      cases: ['purpose'],
      unheard: [purpose],
      dropped: ['requests[0].taskType'],
    },
    {
      note: "`input_type` is no field of OpenAI's: its 400 comes back.",
      providers: ['openai'],
      clients: ['openai'],
      cases: ['purpose'],
      refused: /Unrecognized key: "input_type"/,
      byProvider: true,
    },
    {
      note: 'Models there have one length: Workers AI refuses another in the format of OpenAI.',
      providers: ['workers'],
      cases: ['dimensions'],
      refused: /Unrecognized key:.*dimensions/,
      byProvider: true,
    },
    {
      note: 'A length is refused: models there have one.',
      providers: ['workers-own', 'huggingface'],
      cases: ['dimensions'],
      refused:
        /(?:dimensions|outputDimensionality) cannot be translated for (?:workers-ai|huggingface): it has no counterpart for this model/,
    },
    {
      note: 'A purpose has to be given: that of documents is chosen and named.',
      providers: ['cohere', 'bedrock-cohere'],
      cases: ['a text', 'texts', 'dimensions'],
      dropped: ['input_type=search_document'],
    },
    {
      note: 'A purpose has to be given: that of an index is chosen and named.',
      providers: ['nova'],
      cases: ['a text', 'texts', 'dimensions'],
      dropped: ['embeddingPurpose=GENERIC_INDEX'],
    },
    {
      note: 'The provider tells no tokens: they are estimated, and the answer says so.',
      providers: ['google', 'huggingface'],
      clients: ['openai'],
      said: [[/^tokens \d$/, 'tokens estimated']],
    },
    {
      note: "Google's own client makes one text of several for these models.",
      providers: ['embed-content'],
      clients: ['google'],
      cases: ['texts', 'dimensions', 'purpose'],
      said: [
        [/^vector 6 /, 'vector 20 '],
        [/^vector 7 /, null],
      ],
      unheard: texts,
    },
  ],
}
