import { messagesCodec } from './anthropic/codec.ts'
import type { Codec } from './codec.ts'
import type { DialectId } from './dialect.ts'
import { googleCodec } from './google/codec.ts'
import { chatCodec } from './openai-chat/codec.ts'

/** The dialects between which conversations are translated. */
const codecs: Readonly<Partial<Record<DialectId, Codec>>> = {
  'openai-chat': chatCodec,
  anthropic: messagesCodec,
  google: googleCodec,
}

/** Returns what reads and writes the conversations of a dialect; null when it is not translated. */
export const codecOf = (dialect: DialectId): Codec | null => codecs[dialect] ?? null
