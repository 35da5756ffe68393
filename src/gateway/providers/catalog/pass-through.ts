import { header, type Provider } from '../provider.ts'
import { foreign } from './rows.ts'

/** Providers without dedicated operations by their nature: vector databases, 3-D models, model runners. */
export const passThrough = {
  meshy: foreign('https://api.meshy.ai/openapi/v1', { check: { path: '/balance' } }),
  milvus: foreign(null),
  // qdrant.tech/documentation/guides/security: the key alone, without a scheme.
  qdrant: foreign(null, { auth: header('api-key'), check: { path: '/collections' } }),
  tripo3d: foreign('https://api.tripo3d.ai/v2/openapi', { check: { path: '/user/balance' } }),
} as const satisfies Record<string, Provider>
