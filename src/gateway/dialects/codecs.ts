import { messagesCodec } from './anthropic/codec.ts'
import type { ClientCodec, Codec } from './codec.ts'
import type { DialectId } from './dialect.ts'
import { googleCodec } from './google/codec.ts'
import { chatCodec } from './openai-chat/codec.ts'
import { responsesCodec } from './openai-responses/codec.ts'

/** The dialects between which conversations are translated. */
const codecs: Readonly<Partial<Record<DialectId, Codec>>> = {
  'openai-chat': chatCodec,
  anthropic: messagesCodec,
  google: googleCodec,
}

/** The dialects of clients that no provider is asked in. */
const clientCodecs: Readonly<Partial<Record<DialectId, ClientCodec>>> = { 'openai-responses': responsesCodec }

/** Returns what reads the requests of clients of a dialect and writes their answers; null when it is not translated. */
export const clientCodecOf = (dialect: DialectId): ClientCodec | null => codecs[dialect] ?? clientCodecs[dialect] ?? null

/** Returns what reads and writes the conversations of a dialect; null when it is not translated. */
export const codecOf = (dialect: DialectId): Codec | null => codecs[dialect] ?? null
