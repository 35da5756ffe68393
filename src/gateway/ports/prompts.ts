/** Prompt templates: their parsing, bounds and rendering. */
export { chatRequest, promptRequest } from '../bounds/prompt.ts'
export { describedMessage, optionalParameters } from '../dialects/openai-chat/parameters.ts'
export { bounds } from '../prompts/bounds.ts'
export type { ReadPartials } from '../prompts/partials.ts'
export { jsonVariables, openPrompt, type Prompt, renderPrompt, type StoredPrompt } from '../prompts/prompt.ts'
export { compilePrompt, templatesIn } from '../prompts/prompt-template.ts'
export { parseReference, type Reference, versionNumber } from '../prompts/reference.ts'
export { compile, partialsOf } from '../prompts/template.ts'
