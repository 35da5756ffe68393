import { passes, reads } from '../unplaced.ts'

const media = { inlineData: reads('mimeType data displayName'), fileData: reads('mimeType fileUri displayName') }
const kinds =
  'text inlineData fileData functionCall functionResponse thought thoughtSignature videoMetadata mediaResolution executableCode codeExecutionResult toolCall toolResponse'
const parts = reads(kinds, {
  ...media,
  functionCall: reads('id name args'),
  functionResponse: reads('id name response parts', { parts: reads(kinds, media) }),
})
const content = reads('role parts', { parts })

/** The fields of a request for content that are read, below those of the request itself. */
export const fieldsRead = {
  contents: content,
  systemInstruction: content,
  generationConfig: passes({ thinkingConfig: reads('includeThoughts thinkingBudget thinkingLevel') }),
  tools: passes({ functionDeclarations: reads('name description parameters parametersJsonSchema') }),
  toolConfig: reads('functionCallingConfig', { functionCallingConfig: reads('mode allowedFunctionNames') }),
}
