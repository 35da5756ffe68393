import { operations, type Operation } from '../../operations/operations.ts'
import { bearer, type Provider, type NativeOperation } from '../provider.ts'

/** Operations in their own dialect, at their own paths. */
const spoken = (names: readonly Operation[]): readonly NativeOperation[] =>
  names.map((operation) => ({ operation, dialect: operations[operation].dialect, path: operations[operation].path }))

/** The operations that belong together: a provider that serves one of a group serves all of it. */
export const chat = spoken(['chatComplete'])
export const completions = spoken(['complete'])
export const embeddings = spoken(['embed'])
export const images = spoken(['imageGenerate'])
export const imageEdits = spoken(['imageEdit'])
export const imageVariations = spoken(['imageVary'])
export const moderations = spoken(['moderate'])
export const speech = spoken(['createSpeech'])
export const transcriptions = spoken(['createTranscription'])
export const translations = spoken(['createTranslation'])
export const files = spoken(['uploadFile', 'listFiles', 'retrieveFile', 'deleteFile', 'retrieveFileContent'])
export const batches = spoken(['createBatch', 'listBatches', 'retrieveBatch', 'cancelBatch'])
export const finetunes = spoken(['createFinetune', 'listFinetunes', 'retrieveFinetune', 'cancelFinetune'])
export const responses = spoken(['createModelResponse', 'getModelResponse', 'deleteModelResponse', 'listResponseInputItems'])
/** Responses that a provider keeps, where making them is better done by way of its chats. */
export const keptResponses = spoken(['getModelResponse', 'deleteModelResponse'])
/** The rest of OpenAI's responses, which few others have. */
export const responseTools = spoken(['cancelModelResponse', 'compactResponse'])
export const responseCounts = spoken(['countResponseTokens'])
export const threads = spoken(['listThreadMessages'])
export const messages = spoken(['messages'])
export const messageBatches = spoken(['createMessageBatch'])
export const tokenCounts = spoken(['countTokens'])

/** Completions of models for code alone. */
export const codeCompletions: readonly NativeOperation[] = completions.map((one) => ({ ...one, except: /^(?!.*coder)/ }))

/** Models of OpenAI's that are asked by responses alone: platform.openai.com/docs/models. */
const onlyResponses = /^(?:o\d+-pro|gpt-\d+(?:[.-]\d+)?-pro|(?:gpt-[\d.-]+-)?codex|o\d(?:-mini)?-deep-research|computer-use-preview)/

const openaiChat: readonly NativeOperation[] = [
  { operation: 'chatComplete', dialect: 'openai-chat', path: '/chat/completions', except: onlyResponses },
]

/** All that runs a model on OpenAI's own paths, but chats and responses. */
export const besideChats = [
  ...completions,
  ...embeddings,
  ...images,
  ...imageEdits,
  ...imageVariations,
  ...speech,
  ...transcriptions,
  ...translations,
]

/** All that runs a model on OpenAI's own paths, but responses. */
export const inference = [...openaiChat, ...besideChats]

/** All that OpenAI itself serves. */
export const everything = [
  ...inference,
  ...moderations,
  ...files,
  ...batches,
  ...finetunes,
  ...responses,
  ...responseTools,
  ...responseCounts,
  ...threads,
]

/** A provider that takes and answers the OpenAI shape, with a bearer key. */
export const openai = (baseUrl: string | null, speaks: readonly NativeOperation[], rest: Partial<Provider> = {}): Provider => ({
  api: 'openai',
  auth: bearer,
  baseUrl,
  speaks,
  ...rest,
})

/** A provider whose own API is covered by no dedicated operation: work that it offers in formats of its own is translated, all else has its own paths. */
export const foreign = (baseUrl: string | null, rest: Partial<Provider> = {}): Provider => ({
  api: 'other',
  auth: bearer,
  baseUrl,
  speaks: [],
  ...rest,
})

/** Returns operations with their paths between a prefix and a suffix: `at(chat, '/v1')`, `at(files, '', '?api-version={version}')`. */
export const at = (some: readonly NativeOperation[], prefix: string, suffix = ''): readonly NativeOperation[] =>
  some.map((one) => ({ ...one, path: `${prefix}${one.path}${suffix}` }))
