import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { speechClients, translateSpeech } from '../audio/speech.ts'
import { speechProviders } from '../audio/speech-providers.ts'
import { transcriptionClients, translateTranscription } from '../audio/transcription.ts'
import { transcriptionProviders } from '../audio/transcription-providers.ts'
import type { DialectId } from '../dialect.ts'
import { embeddingClients, translateEmbeddings } from '../embeddings/translate.ts'
import { embeddingProviders } from '../embeddings/providers.ts'
import { imageClients, imageProviders, translateImages } from '../images/translate.ts'
import { moderationClients, moderationProviders, translateModeration } from '../moderations/translate.ts'
import { rerankProviders } from '../rerank/providers.ts'
import { rerankClients, translateRerank } from '../rerank/translate.ts'
import { decided, optionsFor } from '../provider-options.ts'
import type { Traits } from '../traits.ts'
import type { SentFile, TaskBody, TaskContext, TaskTranslation } from './task.ts'

/** A request for a task that is no conversation, as its caller wrote it. */
export interface TranslatedTask {
  /** The name of a task of the operations. */
  readonly task: string
  readonly from: DialectId
  /** The provider's format, as `formatOf` names it. */
  readonly to: string
  /** The dialect of it, under whose name the caller gives native fields. */
  readonly dialect: DialectId
  readonly body: Fields
  /** The files of a form. */
  readonly files: readonly SentFile[]
  readonly estimate: (texts: readonly string[]) => number
}

interface TaskFormats {
  readonly clients: Readonly<Record<string, unknown>>
  readonly providers: Readonly<Record<string, unknown>>
  readonly translate: (asked: TranslatedTask, context: TaskContext) => TaskTranslation | null
}

/** The tasks that are translated. */
const tasks: Readonly<Record<string, TaskFormats | undefined>> = {
  rerank: { clients: rerankClients, providers: rerankProviders, translate: translateRerank },
  speech: { clients: speechClients, providers: speechProviders, translate: translateSpeech },
  transcription: { clients: transcriptionClients, providers: transcriptionProviders, translate: translateTranscription },
  translation: { clients: transcriptionClients, providers: transcriptionProviders, translate: translateTranscription },
  'image-edit': { clients: imageClients, providers: imageProviders, translate: translateImages },
  'image-variation': { clients: imageClients, providers: imageProviders, translate: translateImages },
  moderation: { clients: moderationClients, providers: moderationProviders, translate: translateModeration },
  image: { clients: imageClients, providers: imageProviders, translate: translateImages },
  embedding: { clients: embeddingClients, providers: embeddingProviders, translate: translateEmbeddings },
}

/** Returns the name of a provider's format: its dialect, and the form of it where a row names one. */
export const formatOf = ({ dialect, traits }: { readonly dialect: DialectId; readonly traits: Traits }): string =>
  traits.form === null ? dialect : `${dialect}/${traits.form}`

/** Returns true if a task is translated between two formats. */
export function translatesTask(task: string, from: DialectId, to: string): boolean {
  const formats = tasks[task]
  return formats !== undefined && Object.hasOwn(formats.clients, from) && Object.hasOwn(formats.providers, to)
}

/** Translates a request. Null: one of the formats is none that is translated. Throws `invalid_request` that names the field whose meaning would be lost. */
export function translateTask(asked: TranslatedTask, context: TaskContext): TaskTranslation | null {
  const { provider_options: options, ...body } = asked.body
  const translation = tasks[asked.task]?.translate({ ...asked, body }, context) ?? null
  if (translation === null || options === undefined || options === null) return translation
  const own = optionsFor(options, asked.dialect, decidedInTasks)
  return { ...translation, bodies: translation.bodies.map((one) => withOwn(one, own)) }
}

/** Returns a body with fields of the provider's own; a body of several requests has them in each. Bytes stay as they are. */
function withOwn(body: TaskBody, own: Fields): TaskBody {
  if (!('json' in body)) return body
  const { json } = body
  if (isFields(json['input'])) return { json: { ...json, input: { ...json['input'], ...own } } }
  const { requests } = json
  if (!Array.isArray(requests)) return { json: { ...json, ...own } }
  return { json: { ...json, requests: requests.map((one: unknown) => (isFields(one) ? Object.assign({}, one, own) : one)) } }
}

/** The same for tasks: their input was checked. */
const decidedInTasks: ReadonlySet<string> = new Set([
  ...decided,
  'texts',
  'inputs',
  'images',
  'inputText',
  'inputImage',
  'singleEmbeddingParams',
  'segmentedEmbeddingParams',
  'requests',
  'instances',
  'content',
  'query',
  'documents',
  'text',
  'audio',
  'contexts',
  'records',
  'textToImageParams',
  'inPaintingParams',
  'image',
  'mask',
  'imageVariationParams',
])
