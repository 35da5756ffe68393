import { messagesCodec } from './anthropic/codec.ts'
import { converseCodec } from './bedrock/codec.ts'
import type { ClientCodec, Codec, ProviderCodec } from './codec.ts'
import { cohereCodec } from './cohere/codec.ts'
import { completionsCodec } from './completions/codec.ts'
import type { DialectId } from './dialect.ts'
import { googleCodec } from './google/codec.ts'
import { ollamaCodec } from './ollama/codec.ts'
import { oracleCodec } from './oracle/codec.ts'
import { chatCodec } from './openai-chat/codec.ts'
import { responsesCodec } from './openai-responses/codec.ts'
import { fimCodec } from './mistral-fim/codec.ts'
import { replicateCodec } from './replicate/codec.ts'
import { tritonCodec } from './triton/codec.ts'
import { workersCodec } from './workers-ai/codec.ts'

/** The dialects between which conversations are translated. */
const codecs: Readonly<Partial<Record<DialectId, Codec>>> = {
  'openai-chat': chatCodec,
  anthropic: messagesCodec,
  google: googleCodec,
  'openai-responses': responsesCodec,
}

/** The dialects of providers that no client is answered in. */
const providerCodecs: Readonly<Partial<Record<DialectId, ProviderCodec>>> = {
  bedrock: converseCodec,
  cohere: cohereCodec,
  ollama: ollamaCodec,
  oracle: oracleCodec,
  replicate: replicateCodec,
  'mistral-fim': fimCodec,
  triton: tritonCodec,
  'workers-ai': workersCodec,
}

/** The dialects of clients that are no targets of translation. */
const clientCodecs: Readonly<Partial<Record<DialectId, ClientCodec>>> = { completions: completionsCodec }

/** Returns the codec for the requests of clients of a dialect and their answers; null when it is not translated. */
export const clientCodecOf = (dialect: DialectId): ClientCodec | null => codecs[dialect] ?? clientCodecs[dialect] ?? null

/** Returns the codec of a dialect that is translated for clients and for providers; null: it is translated on one side at most. */
export const codecOf = (dialect: DialectId): Codec | null => codecs[dialect] ?? null

/** Returns the codec for requests to providers of a dialect and their answers; null when it is no target of translation. */
export const providerCodecOf = (dialect: DialectId): ProviderCodec | null => codecs[dialect] ?? providerCodecs[dialect] ?? null
