import { answerTexts } from '../dialects/answer-texts.ts'
import type { DialectId } from '../dialects/dialect.ts'
import { requestTexts } from '../dialects/request-texts.ts'
import { isFields } from '../../lib/json/fields.ts'
import { countTokensOf } from './tokenizer.ts'

/** A model reads some tokens that no message contains: around each message, and before its answer. */
const [perMessage, perAnswer] = [3, 3]

/** About the provider's count for a picture, a recording or a page of a document. */
const perMedia = 1500

/** The tokens of the largest and finest image that a model draws. */
export const tokensOfImage = 6240

/** The families that have a vocabulary of their own which is not public: their tokens for a hundred of OpenAI's. */
const families: readonly (readonly [name: RegExp, percent: number])[] = [[/claude/i, 115]]

/** Returns a model's count for a text that has so many tokens in the vocabulary of OpenAI's models. */
export function tokensOfModel(tokens: number, model: string | null): number {
  const [, percent = 100] = families.find(([name]) => model !== null && name.test(model)) ?? []
  return Math.ceil((tokens * percent) / 100)
}

/** The request whose tokens are estimated. */
export interface EstimatedRequest {
  /** The body as the provider is sent it, parsed. */
  readonly json: unknown
  /** Null: not known. */
  readonly dialect: DialectId | null
  readonly model: string | null
}

/** Estimates the tokens of a prompt: texts, tools, messages and media, in any dialect. */
export function estimateInput({ json, dialect, model }: EstimatedRequest): number {
  if (!isFields(json)) return 0
  const said = countTokensOf(requestTexts(json, dialect).map(({ text }) => text))
  const messages = turnFields.reduce((sum, name) => sum + lengthOf(json[name]), 0)
  const around = messages === 0 ? 0 : messages * perMessage + perAnswer
  return tokensOfModel(said + around, model) + mediaIn(json) * perMedia
}

const turnFields = ['messages', 'contents'] as const
const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0)

/** Estimates the tokens of a model's texts. */
export const estimateTexts = (texts: readonly string[], model: string | null): number => tokensOfModel(countTokensOf(texts), model)

/** Estimates the tokens of an answer that is no stream. */
export const estimateAnswer = (json: unknown, dialect: DialectId | null, model: string | null): number =>
  estimateTexts(
    answerTexts(json, { dialect, method: 'POST' }).map(({ text }) => text),
    model,
  )

/** Fields under which parts of messages hold media. */
const mediaFields: ReadonlySet<string> = new Set([
  'image_url',
  'input_audio',
  'inline_data',
  'inlineData',
  'file_data',
  'fileData',
  'source',
])

/** Counts the pictures, recordings and documents of a request; those that a model made before count too. */
function mediaIn(value: unknown, depth = 0): number {
  if (depth > deepest || typeof value !== 'object' || value === null) return 0
  let found = 0
  for (const [name, part] of Object.entries(value)) found += mediaFields.has(name) ? 1 : mediaIn(part, depth + 1)
  return found
}

/** Parts of contents of messages of a body. */
const deepest = 6
