import { header, noAuth, query, scheme, type Provider } from '../provider.ts'
import { foreign, messages, tokenCounts } from './rows.ts'

/** Providers with an API of their own. What of it a dedicated operation speaks is in `speaks`; the rest waits for translation. */
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
  ai21: foreign('https://api.ai21.com/studio/v1'),
  bytez: foreign('https://api.bytez.com', { auth: scheme('Key') }),
  cohere: foreign('https://api.cohere.ai', { api: 'cohere' }),
  google: foreign('https://generativelanguage.googleapis.com', { api: 'google', auth: query('key') }),
  nomic: foreign('https://api-atlas.nomic.ai/v1'),
  palm: foreign('https://generativelanguage.googleapis.com/v1beta3', { auth: query('key') }),
  'reka-ai': foreign('https://api.reka.ai', { auth: header('x-api-key') }),
  segmind: foreign('https://api.segmind.com/v1', { auth: header('x-api-key') }),
  // platform.stability.ai/docs/api-reference: headers by which a client may name itself.
  'stability-ai': foreign('https://api.stability.ai', {
    fields: { stability_client_id: '', stability_client_user_id: '', stability_client_version: '' },
    fieldHeaders: {
      stability_client_id: 'stability-client-id',
      stability_client_user_id: 'stability-client-user-id',
      stability_client_version: 'stability-client-version',
    },
  }),
  triton: foreign(null, { auth: noAuth }),
} as const satisfies Record<string, Provider>
