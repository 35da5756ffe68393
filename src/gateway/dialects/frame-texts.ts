import { type Fields, isFields } from '../../lib/json/fields.ts'
import type { DialectId } from './dialect.ts'
import type { ExtractedTexts } from './neutral/texts.ts'
import { allTexts, textsOf } from './registry.ts'
import { channelName, piece, place, readAll, unknownShape } from './texts/shape.ts'

const readers = [...new Set(allTexts.flatMap(({ frame = null }) => (frame === null ? [] : [frame])))]
const lastFrames: ReadonlySet<unknown> = new Set(allTexts.flatMap(({ lastFrames: types = [] }) => types))

/**
 * Extracts the texts of one frame. It is read by its dialect, else by the first dialect that has its shape. In known shapes the non-text fields are
 * listed; in unknown shapes every string counts as text.
 */
export function frameTexts(json: unknown, dialect: DialectId | null): ExtractedTexts {
  if (!isFields(json)) return unknownFrame(json, 'data')
  const own = textsOf(dialect)?.frame?.(json) ?? null
  if (own !== null) return own
  for (const read of readers) {
    const found = read(json)
    if (found !== null) return found
  }
  return unknownFrame(json, nameOf(json))
}

/** Returns true if no text of the model comes after this frame. */
export const isLastFrame = (json: unknown): boolean => isFields(json) && lastFrames.has(json['type'])

/** The beginning, the pieces and the end of one thing have one name. */
const nameOf = ({ type }: Fields): string => (typeof type === 'string' ? type.replace(/[-._](?:start|delta|end|stop|done)$/, '') : 'data')

function unknownFrame(json: unknown, name: string): ExtractedTexts {
  const index = isFields(json) ? place(json['index']) : 0
  return { ends: [], texts: readAll(json, [], unknownShape).map((read) => piece(channelName(name, index, ...read.path), read)) }
}
