import { duration, integer, number, providerSlug, size, text } from './kinds.ts'
import { optional, setting } from './setting.ts'

const KiB = 1024
const MiB = 1024 * KiB

/** The settings of the cache of answers. */
export const cacheSettings = {
  RESPONSE_CACHE_MEMORY_IN_MB: setting(size(MiB, { least: 0, most: 65_536 }), '32', {
    desc: 'The memory of each process for cached answers, in front of the database. It is used only when a config has a cache.',
    example: '256',
  }),
  RESPONSE_CACHE_MAX_ANSWER_IN_KB: setting(size(KiB, { least: 1, most: 65_536 }), '1024', {
    desc: 'The largest answer that is cached.',
    example: '256',
  }),
  RESPONSE_CACHE_STORED_IN_MB: setting(size(MiB, { least: 1, most: 1_048_576 }), '1024', {
    desc: 'The most cached answers of one organisation in the database. A job deletes the oldest ones above it every five minutes.',
    example: '4096',
  }),
  SEMANTIC_CACHE_EMBEDDING_PROVIDER: optional(providerSlug, {
    desc: 'The stored provider that makes embeddings for caches with the mode `semantic`, by its slug in the workspace of the caller. Without it such a cache works as `simple`.',
    example: '@embeddings',
  }),
  SEMANTIC_CACHE_EMBEDDING_MODEL: setting(text(255), 'text-embedding-3-small', {
    desc: 'The model that makes embeddings for the semantic cache.',
    example: 'text-embedding-3-large',
  }),
  SEMANTIC_CACHE_EMBEDDING_DIMENSIONS: optional(integer(1, 4000), {
    desc: 'The number of dimensions that the embedding model is asked for; not every model can be asked. Default: as many as it makes. The table of pgvector has so many: where a model is none of OpenAI, its embeddings are compared in memory until this is set.',
    example: '512',
  }),
  SEMANTIC_CACHE_EMBEDDING_TIMEOUT: setting(duration(10), '1s', {
    desc: 'The longest time that a request waits for its embedding. After that the provider is asked as if there were no semantic cache.',
    example: '300ms',
  }),
  SEMANTIC_CACHE_SIMILARITY_THRESHOLD: setting(number(0.5, 1), '0.95', {
    desc: 'How alike two texts must be for one answer: the least cosine of their embeddings. A config can set its own.',
    example: '0.97',
  }),
  SEMANTIC_CACHE_MAX_TEMPERATURE: setting(number(0, 2), '1', {
    desc: 'Requests with a higher temperature get no answer of a similar request. A config can set its own.',
    example: '0.3',
  }),
  SEMANTIC_CACHE_MEMORY_IN_MB: setting(size(MiB, { least: 0, most: 65_536 }), '64', {
    desc: 'The memory of each process for embeddings where PostgreSQL lacks the extension pgvector. 64 MB hold about 10,000 of 1,536 dimensions; one organisation gets at most half.',
    example: '256',
  }),
}
