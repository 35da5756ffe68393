import { header, noAuth, query, scheme, type Provider } from '../provider.ts'
import { chat, foreign, messages, openai, tokenCounts } from './rows.ts'

/** Providers with an API of their own. What of it a dedicated operation speaks is in `speaks`; `offers` says what it does in its own format. */
export const ownDialects = {
  // docs.anthropic.com/en/api/versioning: the version header is required.
  anthropic: {
    api: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    auth: header('x-api-key'),
    speaks: [...messages, ...tokenCounts],
    headers: { 'anthropic-version': '2023-06-01' },
    fields: { anthropic_version: '', anthropic_beta: '' },
    fieldHeaders: { anthropic_version: 'anthropic-version', anthropic_beta: 'anthropic-beta' },
  },
  // docs.ai21.com/reference/jamba-1-6-api-ref: chat completions in OpenAI's shape.
  ai21: openai('https://api.ai21.com/studio/v1', chat),
  bytez: foreign('https://api.bytez.com', { auth: scheme('Key') }),
  // docs.cohere.com/reference: chat and embeddings have a second version.
  cohere: foreign('https://api.cohere.ai', {
    api: 'cohere',
    check: { path: '/v1/models?page_size=1000' },
    offers: [
      { task: 'conversation', dialect: 'cohere', path: '/v2/chat' },
      { task: 'embedding', dialect: 'cohere', path: '/v2/embed' },
      { task: 'rerank', dialect: 'cohere', path: '/v2/rerank' },
    ],
  }),
  // ai.google.dev/api: the method follows the model behind a colon.
  google: foreign('https://generativelanguage.googleapis.com', {
    api: 'google',
    auth: query('key'),
    offers: [
      {
        task: 'conversation',
        dialect: 'google',
        path: '/v1beta/models/{+model}:generateContent',
        streamPath: '/v1beta/models/{+model}:streamGenerateContent?alt=sse',
      },
      { task: 'embedding', dialect: 'google', path: '/v1beta/models/{+model}:batchEmbedContents' },
      { task: 'token-count', dialect: 'google', path: '/v1beta/models/{+model}:countTokens' },
    ],
  }),
  nomic: foreign('https://api-atlas.nomic.ai/v1'),
  palm: foreign('https://generativelanguage.googleapis.com/v1beta3', { auth: query('key') }),
  'reka-ai': foreign('https://api.reka.ai', { auth: header('x-api-key') }),
  segmind: foreign('https://api.segmind.com/v1', { auth: header('x-api-key') }),
  // platform.stability.ai/docs/api-reference: headers by which a client may name itself.
  'stability-ai': foreign('https://api.stability.ai', {
    check: { path: '/v1/user/account' },
    fields: { stability_client_id: '', stability_client_user_id: '', stability_client_version: '' },
    fieldHeaders: {
      stability_client_id: 'stability-client-id',
      stability_client_user_id: 'stability-client-user-id',
      stability_client_version: 'stability-client-version',
    },
  }),
  triton: foreign(null, { auth: noAuth }),
} as const satisfies Record<string, Provider>
