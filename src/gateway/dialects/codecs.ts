import type { Codec } from './codec.ts'
import type { DialectId } from './dialect.ts'

/** The dialects between which conversations are translated. */
const codecs: Readonly<Partial<Record<DialectId, Codec>>> = {}

/** Returns what reads and writes the conversations of a dialect; null when it is not translated. */
export const codecOf = (dialect: DialectId): Codec | null => codecs[dialect] ?? null
