import type { SemanticConfig } from '../../config/config.ts'

/** The dimensions of models that are asked for no number of them, as their vendor documents them. */
const usual: Readonly<Record<string, number>> = {
  'text-embedding-3-small': 1536,
  'text-embedding-3-large': 3072,
  'text-embedding-ada-002': 1536,
}

/** Returns the dimensions of the embeddings that the settings ask for; null: they are those of a model that is not known here. */
export const dimensionsOf = ({ model, dimensions }: Pick<SemanticConfig, 'model' | 'dimensions'>): number | null =>
  dimensions ?? usual[model] ?? null
