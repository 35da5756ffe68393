import { errorWords as anthropicErrors } from './anthropic/error-words.ts'
import { models as anthropicModels } from './anthropic/models.ts'
import { texts as anthropicTexts } from './anthropic/texts.ts'
import { usage as anthropicUsage } from './anthropic/usage.ts'
import { marks as anthropicMarks } from './anthropic/marks.ts'
import { texts as audioTexts } from './audio/texts.ts'
import { errorWords as bedrockErrors } from './bedrock/error-words.ts'
import { models as bedrockModels } from './bedrock/models.ts'
import { texts as bedrockTexts } from './bedrock/texts.ts'
import { texts as cohereTexts } from './cohere/texts.ts'
import { texts as completionsTexts } from './completions/texts.ts'
import type { Dialect, DialectId } from './dialect.ts'
import { texts as embeddingsTexts } from './embeddings/texts.ts'
import { errorWords as googleErrors } from './google/error-words.ts'
import { models as googleModels } from './google/models.ts'
import { texts as googleTexts } from './google/texts.ts'
import { usage as googleUsage } from './google/usage.ts'
import { marks as googleMarks } from './google/marks.ts'
import { texts as imagesTexts } from './images/texts.ts'
import { errorWords as chatErrors } from './openai-chat/error-words.ts'
import { models as chatModels } from './openai-chat/models.ts'
import { texts as moderationsTexts } from './moderations/texts.ts'
import { texts as ollamaTexts } from './ollama/texts.ts'
import { errorWords as oracleErrors } from './oracle/error-words.ts'
import { models as oracleModels } from './oracle/models.ts'
import { texts as oracleTexts } from './oracle/texts.ts'
import { texts as fimTexts } from './mistral-fim/texts.ts'
import { texts as replicateTexts } from './replicate/texts.ts'
import { texts as tritonTexts } from './triton/texts.ts'
import { texts as workersTexts } from './workers-ai/texts.ts'
import { texts as chatTexts } from './openai-chat/texts.ts'
import { usage as chatUsage } from './openai-chat/usage.ts'
import { marks as chatMarks } from './openai-chat/marks.ts'
import { texts as platformTexts } from './openai-platform/texts.ts'
import { models as responsesModels } from './openai-responses/models.ts'
import { texts as responsesTexts } from './openai-responses/texts.ts'
import { usage as responsesUsage } from './openai-responses/usage.ts'
import { marks as responsesMarks } from './openai-responses/marks.ts'

/** Every dialect. Bodies of unknown dialect are tried in this order. */
export const dialects: Readonly<Record<DialectId, Dialect>> = {
  anthropic: { texts: anthropicTexts, usage: anthropicUsage, marks: anthropicMarks, models: anthropicModels, errors: anthropicErrors },
  'openai-chat': { texts: chatTexts, usage: chatUsage, marks: chatMarks, models: chatModels, errors: chatErrors },
  google: { texts: googleTexts, usage: googleUsage, marks: googleMarks, models: googleModels, errors: googleErrors },
  'openai-responses': { texts: responsesTexts, usage: responsesUsage, marks: responsesMarks, models: responsesModels },
  completions: { texts: completionsTexts },
  'openai-platform': { texts: platformTexts },
  cohere: { texts: cohereTexts },
  bedrock: { texts: bedrockTexts, models: bedrockModels, errors: bedrockErrors },
  ollama: { texts: ollamaTexts },
  oracle: { texts: oracleTexts, models: oracleModels, errors: oracleErrors },
  'mistral-fim': { texts: fimTexts },
  replicate: { texts: replicateTexts },
  triton: { texts: tritonTexts },
  'workers-ai': { texts: workersTexts },
  embeddings: { texts: embeddingsTexts },
  images: { texts: imagesTexts },
  audio: { texts: audioTexts },
  moderations: { texts: moderationsTexts },
}

/** The texts of every dialect, in that order. */
export const allTexts = Object.values(dialects).map(({ texts }) => texts)

/** Returns the facts about the texts of a dialect; null when the dialect is unknown. */
export const textsOf = (dialect: DialectId | null) => (dialect === null ? null : dialects[dialect].texts)
