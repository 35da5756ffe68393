import { type Fields, isFields } from '../../../lib/json/fields.ts'
import type { DialectId } from '../dialect.ts'
import { embeddingClients, translateEmbeddings } from '../embeddings/translate.ts'
import { embeddingProviders } from '../embeddings/providers.ts'
import { rerankClients, rerankProviders, translateRerank } from '../rerank/translate.ts'
import { decided, optionsFor } from '../translate.ts'
import type { Traits } from '../traits.ts'
import type { TaskContext, TaskTranslation } from './task.ts'

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

/** Returns a body with fields of the provider's own; a body of several requests has them in each. */
function withOwn(body: Fields, own: Fields): Fields {
  const { requests } = body
  if (!Array.isArray(requests)) return { ...body, ...own }
  return { ...body, requests: requests.map((one: unknown) => (isFields(one) ? Object.assign({}, one, own) : one)) }
}

/** The same for tasks: what they work on was checked. */
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
])
