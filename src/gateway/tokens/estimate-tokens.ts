import { answerTexts } from '../dialects/answer-texts.ts'
import type { DialectId } from '../dialects/dialect.ts'
import { requestTexts } from '../dialects/request-texts.ts'
import { isVast } from '../dialects/texts/walk.ts'
import { type Fields, isFields } from '../../lib/json/fields.ts'
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

/** The request, or the answer, whose tokens are estimated. */
export interface EstimatedRequest {
  /** The body as the provider is sent it, parsed, or as it answers. */
  readonly json: unknown
  /** The length of the body. */
  readonly size: number
  /** Null: not known. */
  readonly dialect: DialectId | null
  readonly model: string | null
}

/** Bytes of a body for a token, where its texts are not collected. */
const bytesPerToken = 4
const tokensOfBytes = (size: number, model: string | null): number => tokensOfModel(Math.ceil(size / bytesPerToken), model)

/** Estimates the tokens of a prompt: texts, tools, messages and media, in any dialect. A heap of crumbs is estimated by its bytes. */
export function estimateInput({ json, size, dialect, model }: EstimatedRequest): number {
  if (!isFields(json)) return 0
  if (isVast(json)) return tokensOfBytes(size, model)
  const said = countTokensOf(requestTexts(json, dialect).map(({ text }) => text))
  const messages = turnFields.reduce((sum, name) => sum + lengthOf(json[name]), 0)
  const around = messages === 0 ? 0 : messages * perMessage + perAnswer
  return tokensOfModel(said + around, model) + mediaIn(json) * perMedia + tokensAsNumbers(json)
}

/** The prompts of completions and the inputs of embeddings may be lists of the model's own tokens, or lists of such lists. */
const numberFields = ['prompt', 'input'] as const

const tokensAsNumbers = (json: Fields): number => numberFields.reduce((sum, name) => sum + numbersIn(json[name]), 0)

function numbersIn(value: unknown, depth = 0): number {
  if (!Array.isArray(value) || depth > 1) return 0
  let found = 0
  for (const one of value as readonly unknown[]) found += typeof one === 'number' ? 1 : numbersIn(one, depth + 1)
  return found
}

const turnFields = ['messages', 'contents'] as const
const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0)

/** Estimates the tokens of a model's texts. */
export const estimateTexts = (texts: readonly string[], model: string | null): number => tokensOfModel(countTokensOf(texts), model)

/** Estimates the tokens of an answer that is no stream. */
export const estimateAnswer = ({ json, size, dialect, model }: EstimatedRequest): number =>
  isVast(json)
    ? tokensOfBytes(size, model)
    : estimateTexts(
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
  if (Array.isArray(value)) for (let at = 0; at < value.length; at += 1) found += mediaIn(value[at], depth + 1)
  else if (isFields(value)) for (const name of Object.keys(value)) found += mediaFields.has(name) ? 1 : mediaIn(value[name], depth + 1)
  return found
}

/** Parts of contents of messages of a body. */
const deepest = 6
