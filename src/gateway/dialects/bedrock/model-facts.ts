/** The vendor of a model that Bedrock runs. */
export type Family = 'anthropic' | 'amazon' | 'openai' | 'mistral' | 'cohere' | 'meta' | 'other'

const families: ReadonlySet<string> = new Set<Family>(['anthropic', 'amazon', 'openai', 'mistral', 'cohere', 'meta'])

const isFamily = (word: string): word is Family => families.has(word)

/**
 * Returns the vendor of a model: `us.anthropic.claude-…` is Anthropic's. An ARN of an inference profile, or a later name, shows it only if it
 * contains the name of the model.
 */
export function familyOf(model: string): Family {
  const words = model.toLowerCase().split(/[./:]/)
  const named = words.find((word) => isFamily(word))
  if (named !== undefined && isFamily(named)) return named
  return model.includes('claude') ? 'anthropic' : model.includes('nova') ? 'amazon' : 'other'
}

/** Models of Anthropic's that refuse strict tools on Bedrock. */
export const refusesStrict = (model: string): boolean => /opus-4-[78]/.test(model)
