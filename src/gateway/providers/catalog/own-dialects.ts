import { header, noAuth, type Offer, scheme, type Provider } from '../provider.ts'
import { geminiTasks } from './cloud-offers.ts'
import { at, chat, completions, embeddings, foreign, messageBatches, messages, openai, tokenCounts } from './rows.ts'

const predictions: readonly (readonly [models: RegExp, path: string])[] = [
  [/^(?:[^/:]+\/[^/:]+:)?([0-9a-f]{64})$/, '/predictions'],
  [/^(deployments\/[^/:]+\/[^/:]+)$/, '/{+model}/predictions'],
  [/^([^/:]+\/[^/:]+)$/, '/models/{+model}/predictions'],
]
const replicateOffers = (['conversation', 'image', 'image-edit'] as const).flatMap((task) =>
  predictions.map(([models, path]): Offer => ({ task, dialect: 'replicate', path, models })),
)

const tritonEngines = ['vllm', 'tensorrtllm'] as const
const generate = { path: '/v2/models/{model}/generate', streamPath: '/v2/models/{model}/generate_stream' }

/**
 * Providers with an API of their own. The parts of it that a dedicated operation covers are in `speaks`; `offers` lists the work that it does in its
 * own format.
 */
export const ownDialects = {
  // docs.anthropic.com/en/api/versioning: the version header is required.
  anthropic: {
    api: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    auth: header('x-api-key'),
    speaks: [...messages, ...messageBatches, ...tokenCounts],
    headers: { 'anthropic-version': '2023-06-01' },
    fields: { anthropic_version: '', anthropic_beta: '' },
    fieldHeaders: { anthropic_version: 'anthropic-version', anthropic_beta: 'anthropic-beta' },
  },
  // docs.ai21.com/reference/jamba-1-6-api-ref: chat completions in OpenAI's shape.
  ai21: openai('https://api.ai21.com/studio/v1', chat),
  // docs.cohere.com/reference: chat and embeddings have a second version.
  cohere: foreign('https://api.cohere.ai', {
    api: 'cohere',
    check: { path: '/v1/models?page_size=1000' },
    offers: [
      { task: 'conversation', dialect: 'cohere', path: '/v2/chat' },
      { task: 'embedding', dialect: 'cohere', path: '/v2/embed' },
      { task: 'rerank', dialect: 'cohere', path: '/v2/rerank' },
      { task: 'transcription', dialect: 'audio', path: '/v2/audio/transcriptions', traits: { form: 'cohere' } },
    ],
  }),
  // developers.deepgram.com/reference: a scheme of its own, and all but sound and text in the query.
  deepgram: foreign('https://api.deepgram.com', {
    auth: scheme('Token'),
    check: { path: '/v1/projects' },
    readsQuery: true,
    offers: [
      { task: 'speech', dialect: 'audio', path: '/v1/speak', traits: { form: 'deepgram' } },
      { task: 'transcription', dialect: 'audio', path: '/v1/listen', traits: { form: 'deepgram' } },
    ],
  }),
  // elevenlabs.io/docs/api-reference: the voice stands in the path.
  elevenlabs: foreign('https://api.elevenlabs.io', {
    auth: header('xi-api-key'),
    check: { path: '/v1/user' },
    offers: [
      { task: 'speech', dialect: 'audio', path: '/v1/text-to-speech', traits: { form: 'elevenlabs' } },
      { task: 'transcription', dialect: 'audio', path: '/v1/speech-to-text', traits: { form: 'elevenlabs' } },
    ],
  }),
  // ai.google.dev/api: the method follows the model behind a colon.
  google: foreign('https://generativelanguage.googleapis.com', {
    api: 'google',
    auth: header('x-goog-api-key'),
    offers: [
      {
        task: 'conversation',
        dialect: 'google',
        path: '/v1beta/models/{+model}:generateContent',
        streamPath: '/v1beta/models/{+model}:streamGenerateContent?alt=sse',
      },
      { task: 'embedding', dialect: 'google', path: '/v1beta/models/{+model}:batchEmbedContents' },
      {
        task: 'image',
        dialect: 'google',
        path: '/v1beta/models/{+model}:predict',
        models: /^(?:models\/)?(imagen-[^/]+)$/,
        traits: { form: 'imagen' },
      },
      ...geminiTasks.map(([task, form]): Offer => ({
        task,
        dialect: 'google',
        path: '/v1beta/models/{+model}:generateContent',
        streamPath: '/v1beta/models/{+model}:streamGenerateContent?alt=sse',
        traits: { form },
      })),
      { task: 'token-count', dialect: 'google', path: '/v1beta/models/{+model}:countTokens' },
    ],
  }),
  // docs.nomic.ai: embeddings in a format of its own.
  nomic: foreign('https://api-atlas.nomic.ai/v1', {
    offers: [{ task: 'embedding', dialect: 'embeddings', path: '/embedding/text', traits: { form: 'nomic' } }],
  }),
  // ai.google.dev/palm_docs: its models and methods are gone, Gemini's are there in their place.
  palm: foreign('https://generativelanguage.googleapis.com/v1beta3', { auth: header('x-goog-api-key'), retired: 'google' }),
  // replicate.com/docs/reference/http: a prediction of a model that the path names, of a deployment, or of a version.
  replicate: foreign('https://api.replicate.com/v1', {
    check: { path: '/account' },
    offers: replicateOffers,
    lists: { path: '/models' },
  }),
  segmind: foreign('https://api.segmind.com/v1', {
    auth: header('x-api-key'),
    openHosts: true,
    offers: [{ task: 'image', dialect: 'images', path: '/{model}', traits: { form: 'segmind' } }],
  }),
  // platform.stability.ai/docs/api-reference: headers by which a client may name itself.
  'stability-ai': foreign('https://api.stability.ai', {
    check: { path: '/v1/user/account' },
    offers: [
      {
        task: 'image',
        dialect: 'images',
        path: '/v2beta/stable-image/generate/{model}',
        models: /^(?:stable-image-)?(ultra|core)$/,
        traits: { form: 'stability' },
      },
      { task: 'image', dialect: 'images', path: '/v2beta/stable-image/generate/sd3', traits: { form: 'stability' } },
      { task: 'image-edit', dialect: 'images', path: '/v2beta/stable-image', traits: { form: 'stability-edit' } },
    ],
    fields: { stability_client_id: '', stability_client_user_id: '', stability_client_version: '' },
    fieldHeaders: {
      stability_client_id: 'stability-client-id',
      stability_client_user_id: 'stability-client-user-id',
      stability_client_version: 'stability-client-version',
    },
  }),
  // docs.nvidia.com/deeplearning/triton-inference-server: its frontend for OpenAI's clients has chats, completions and vectors. The server itself, at
  // a port of its own, completes texts by its generate extension, in the words of the engine that it runs.
  triton: openai(null, at([...chat, ...completions, ...embeddings], '/v1'), {
    auth: noAuth,
    fields: { triton_backend: '' },
    variants: tritonEngines.map((value) => ({
      field: 'triton_backend',
      value,
      baseUrl: null,
      speaks: at([...chat, ...embeddings], '/v1'),
      offers: [{ task: 'completion', dialect: 'triton', ...generate, traits: { form: value } }],
    })),
  }),
} as const satisfies Record<string, Provider>
