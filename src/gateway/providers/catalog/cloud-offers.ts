import type { Offer } from '../provider.ts'

const claudeOnBedrock = /^(?:[a-z-]+\.)?anthropic\.|\/(?:[a-z-]+\.)?anthropic\./

/**
 * docs.aws.amazon.com/bedrock/latest/APIReference: Converse takes every vendor's models; Claude's own format goes by InvokeModel, whose
 * body names no model. Models may begin with a region (`eu.`), and may be ARNs.
 */
export const bedrockOffers: readonly Offer[] = [
  { task: 'conversation', dialect: 'bedrock', path: '/model/{model}/converse', streamPath: '/model/{model}/converse-stream' },
  {
    task: 'conversation',
    dialect: 'anthropic',
    path: '/model/{model}/invoke',
    streamPath: '/model/{model}/invoke-with-response-stream',
    models: claudeOnBedrock,
    traits: { host: 'bedrock' },
  },
  // docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html: each vendor's models are invoked in a format of their own.
  {
    task: 'embedding',
    dialect: 'cohere',
    path: '/model/{model}/invoke',
    models: /^(?:[a-z-]+\.)?cohere\.embed/,
    traits: { host: 'bedrock' },
  },
  {
    task: 'embedding',
    dialect: 'bedrock',
    path: '/model/{model}/invoke',
    models: /^(?:[a-z-]+\.)?amazon\.nova.*embed/,
    traits: { host: 'bedrock', form: 'nova' },
  },
  { task: 'embedding', dialect: 'bedrock', path: '/model/{model}/invoke', traits: { host: 'bedrock', form: 'titan' } },
  {
    task: 'rerank',
    dialect: 'cohere',
    path: '/model/{model}/invoke',
    models: /^(?:[a-z-]+\.)?cohere\.rerank/,
    traits: { host: 'bedrock', form: 'bedrock' },
  },
  {
    task: 'rerank',
    dialect: 'cohere',
    path: '/model/{model}/invoke',
    models: /^(?:[a-z-]+\.)?amazon\.rerank/,
    traits: { host: 'bedrock', form: 'bedrock-amazon' },
  },
  {
    task: 'image',
    dialect: 'bedrock',
    path: '/model/{model}/invoke',
    models: /^(?:[a-z-]+\.)?stability\./,
    traits: { host: 'bedrock', form: 'stability' },
  },
  { task: 'image', dialect: 'bedrock', path: '/model/{model}/invoke', traits: { host: 'bedrock', form: 'canvas' } },
  {
    task: 'image-edit',
    dialect: 'bedrock',
    path: '/model/{model}/invoke',
    models: /^(?:[a-z-]+\.)?stability\..*inpaint/,
    traits: { host: 'bedrock', form: 'inpaint' },
  },
  ...(['image-edit', 'image-variation'] as const).map((task): Offer => ({
    task,
    dialect: 'bedrock',
    path: '/model/{model}/invoke',
    models: /^(?:[a-z-]+\.)?amazon\./,
    traits: { host: 'bedrock', form: 'canvas' },
  })),
  // It has model names without the region in front of them.
  {
    task: 'token-count',
    dialect: 'bedrock',
    path: '/model/{model}/count-tokens',
    models: /^(?:(?:us|eu|apac|au|jp|us-gov|global)\.)?(.+)$/,
  },
]

const vertexModels = '/v1/projects/{vertex_project_id}/locations/{vertex_region}/publishers'
const claudes = /^(?:anthropic[./])?(claude-[^/]+)$/
/** Models that are neither Claude nor Gemini. */
const others = /^(?!(?:anthropic[./])?claude-|(?:(?:google|models)[./])?gemini-)/
const geminis = /^(?:(?:google|models)[./])?(gemini-[^/]+)$/

/** The tasks that models of Gemini's do as turns of a conversation, by the form of it. */
export const geminiTasks = [
  ['image', 'gemini-image'],
  ['image-edit', 'gemini-image'],
  ['speech', 'gemini-speech'],
  ['transcription', 'gemini-transcription'],
  ['translation', 'gemini-transcription'],
] as const

/** docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference: by publisher; the models of others answer in OpenAI's shape. */
export const vertexOffers: readonly Offer[] = [
  {
    task: 'conversation',
    dialect: 'anthropic',
    path: `${vertexModels}/anthropic/models/{model}:rawPredict`,
    streamPath: `${vertexModels}/anthropic/models/{model}:streamRawPredict`,
    models: claudes,
    traits: { host: 'vertex' },
  },
  {
    task: 'token-count',
    dialect: 'anthropic',
    path: `${vertexModels}/anthropic/models/count-tokens:rawPredict`,
    models: claudes,
    traits: { host: 'vertex' },
  },
  {
    task: 'conversation',
    dialect: 'google',
    path: `${vertexModels}/google/models/{model}:generateContent`,
    streamPath: `${vertexModels}/google/models/{model}:streamGenerateContent?alt=sse`,
    models: geminis,
    traits: { host: 'vertex' },
  },
  // The first model of Gemini's takes one text per call, others take several; later ones have a method of their own.
  {
    task: 'embedding',
    dialect: 'google',
    path: `${vertexModels}/google/models/{model}:predict`,
    models: /^(?:(?:google|models)[./])?(gemini-embedding-001)$/,
    traits: { host: 'vertex', form: 'predict-one' },
  },
  {
    task: 'embedding',
    dialect: 'google',
    path: `${vertexModels}/google/models/{model}:embedContent`,
    models: geminis,
    traits: { host: 'vertex', form: 'embed-content' },
  },
  {
    task: 'embedding',
    dialect: 'google',
    path: `${vertexModels}/google/models/{model}:predict`,
    models: /^(?:(?:google|models)[./])?([^/]*embedding[^/]*)$/,
    traits: { host: 'vertex', form: 'predict' },
  },
  {
    task: 'image',
    dialect: 'google',
    path: `${vertexModels}/google/models/{model}:predict`,
    models: /^(?:(?:google|models)[./])?(imagen[^/]+)$/,
    traits: { host: 'vertex', form: 'imagen' },
  },
  {
    task: 'image-edit',
    dialect: 'google',
    path: `${vertexModels}/google/models/{model}:predict`,
    models: /^(?:(?:google|models)[./])?(imagen[^/]+)$/,
    traits: { host: 'vertex', form: 'imagen-edit' },
  },
  ...geminiTasks.map(([task, form]): Offer => ({
    task,
    dialect: 'google',
    path: `${vertexModels}/google/models/{model}:generateContent`,
    streamPath: `${vertexModels}/google/models/{model}:streamGenerateContent?alt=sse`,
    models: geminis,
    traits: { host: 'vertex', form },
  })),
  // cloud.google.com/generative-ai-app-builder/docs/ranking: a service with a host of its own, which is not in regions.
  {
    task: 'rerank',
    dialect: 'google',
    baseUrl: 'https://discoveryengine.googleapis.com',
    path: '/v1/projects/{vertex_project_id}/locations/global/rankingConfigs/default_ranking_config:rank',
    models: /^(?:(?:google|models)[./])?(semantic-ranker-[^/]+)$/,
    traits: { form: 'ranking' },
  },
  {
    task: 'token-count',
    dialect: 'google',
    path: `${vertexModels}/google/models/{model}:countTokens`,
    models: geminis,
    traits: { host: 'vertex' },
  },
  {
    task: 'conversation',
    dialect: 'openai-chat',
    path: '/v1/projects/{vertex_project_id}/locations/{vertex_region}/endpoints/openapi/chat/completions',
    models: others,
    traits: { host: 'vertex' },
  },
]

const workersModel = '^/client/v4/accounts/{workers_ai_account_id}/ai/run/{+model}'

/** developers.cloudflare.com/workers-ai/models: each model has a format of its own. */
export const workersOffers: readonly Offer[] = [
  ...(['conversation', 'embedding', 'rerank'] as const).map((task): Offer => ({
    task,
    dialect: 'workers-ai',
    path: workersModel,
    traits: { form: null },
  })),
  { task: 'image', dialect: 'images', path: workersModel, traits: { form: 'workers-ai' } },
  { task: 'speech', dialect: 'audio', path: workersModel, traits: { form: 'aura' } },
  { task: 'transcription', dialect: 'audio', path: workersModel, models: /turbo$/, traits: { form: 'whisper-turbo' } },
  { task: 'transcription', dialect: 'audio', path: workersModel, traits: { form: 'whisper' } },
  { task: 'translation', dialect: 'audio', path: workersModel, models: /turbo$/, traits: { form: 'whisper-turbo' } },
]

/** docs.oracle.com/iaas/api/#/en/generative-ai-inference: bodies name the model, and whose account pays. */
export const oracleOffers: readonly Offer[] = [
  { task: 'conversation', dialect: 'oracle', path: '/{oracle_api_version}/actions/chat' },
  { task: 'embedding', dialect: 'oracle', path: '/{oracle_api_version}/actions/embedText' },
  { task: 'rerank', dialect: 'oracle', path: '/{oracle_api_version}/actions/rerankText' },
]
