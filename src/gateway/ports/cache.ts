/** The answer cache: the stores that it needs, and the cache on top of them. */
export type { AnswerScope, AnswerStore, CachedAnswer, KeptAnswer } from '../cache/answer-store.ts'
export { createEmbed } from '../cache/embed.ts'
export { createAnswerCache, type SimilaritySearch } from '../cache/recall.ts'
export type { PlacedAnswer, PlacedVector, Vectors } from '../cache/vectors.ts'
