/** The names of common fields in the models of one vendor. */
export interface InputNames {
  readonly system: string
  readonly maxTokens: string
  /** The field for images, and whether it is a list; null: the model sees none, as far as is known. */
  readonly images: readonly [field: string, isList: boolean]
}

const usual: InputNames = { system: 'system_prompt', maxTokens: 'max_tokens', images: ['image', false] }

/** replicate.com/explore: each model has a schema of its own; those of one vendor are alike. */
const vendors: readonly (readonly [models: RegExp, names: InputNames])[] = [
  [/^(?:deployments\/)?openai\//, { system: 'system_prompt', maxTokens: 'max_completion_tokens', images: ['image_input', true] }],
  [/^(?:deployments\/)?google\//, { system: 'system_instruction', maxTokens: 'max_output_tokens', images: ['images', true] }],
]

/** Returns the names of a model's inputs. */
export const inputNames = (model: string): InputNames => vendors.find(([models]) => models.test(model))?.[1] ?? usual
