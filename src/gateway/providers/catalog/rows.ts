import { operations, type Operation } from '../../front/operations.ts'
import { bearer, type Paths, type Provider } from '../provider.ts'

/** The operations that belong together: a provider that serves one of a group serves all of it. */
export const chat = ['chatComplete'] as const satisfies readonly Operation[]
export const completions = ['complete'] as const satisfies readonly Operation[]
export const embeddings = ['embed'] as const satisfies readonly Operation[]
export const images = ['imageGenerate'] as const satisfies readonly Operation[]
export const speech = ['createSpeech'] as const satisfies readonly Operation[]
export const transcriptions = ['createTranscription'] as const satisfies readonly Operation[]
export const translations = ['createTranslation'] as const satisfies readonly Operation[]
export const files = [
  'uploadFile',
  'listFiles',
  'retrieveFile',
  'deleteFile',
  'retrieveFileContent',
] as const satisfies readonly Operation[]
export const batches = ['createBatch', 'listBatches', 'retrieveBatch', 'cancelBatch'] as const satisfies readonly Operation[]
export const finetunes = ['createFinetune', 'listFinetunes', 'retrieveFinetune', 'cancelFinetune'] as const satisfies readonly Operation[]
export const responses = [
  'createModelResponse',
  'getModelResponse',
  'deleteModelResponse',
  'listResponseInputItems',
] as const satisfies readonly Operation[]

/** All that OpenAI itself serves. */
export const everything: readonly Operation[] = [
  ...chat,
  ...completions,
  ...embeddings,
  ...images,
  'imageEdit',
  ...speech,
  ...transcriptions,
  ...translations,
  ...files,
  ...batches,
  ...finetunes,
  ...responses,
  'listThreadMessages',
]

/** A provider that takes and answers the OpenAI shape, with a bearer key. */
export const openai = (baseUrl: string | null, serves: readonly Operation[], rest: Partial<Provider> = {}): Provider => ({
  dialect: 'openai',
  auth: bearer,
  baseUrl,
  serves,
  ...rest,
})

/** A provider whose own API no dedicated operation speaks: reached by pass-through until its dialect is translated. */
export const foreign = (baseUrl: string | null, rest: Partial<Provider> = {}): Provider => ({
  dialect: 'other',
  auth: bearer,
  baseUrl,
  serves: [],
  ...rest,
})

/** The operations' own paths between a prefix and a suffix: `paths(chat, '/v1')`, `paths(files, '', '?api-version={version}')`. */
export function paths(served: readonly Operation[], prefix: string, suffix = ''): Paths {
  return Object.fromEntries(served.map((name) => [name, `${prefix}${operations[name].path}${suffix}`]))
}
