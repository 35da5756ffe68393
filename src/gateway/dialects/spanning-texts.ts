import { jsonOrUndefined } from '../../lib/json/json.ts'
import { isFields } from '../../lib/json/fields.ts'
import type { DialectId } from './dialect.ts'
import { frameTexts } from './frame-texts.ts'
import type { TextPart } from './neutral/texts.ts'
import { isVast } from './texts/walk.ts'

/** The first step in the path of texts that stand in several frames: they can be read, and not be changed. */
export const spanning = '*frames*'

/**
 * Returns the texts that frames say together, in at least so many pieces each. A stream need not be server-sent events: Google's is an
 * array unless asked otherwise, Ollama's are lines of JSON.
 */
export function spanningTexts(frames: readonly unknown[], dialect: DialectId | null, leastPieces: number): readonly TextPart[] {
  const channels = new Map<string, string[]>()
  for (const frame of frames)
    for (const { channel, copyOf, text } of frameTexts(frame, dialect).texts) {
      const pieces = channels.get(channel)
      if (copyOf !== null) continue
      if (pieces === undefined) channels.set(channel, [text])
      else pieces.push(text)
    }
  return [...channels].flatMap(([channel, pieces]): readonly TextPart[] =>
    pieces.length < leastPieces ? [] : [{ path: [spanning, channel], role: 'assistant', text: pieces.join('') }],
  )
}

/** A record of a JSON text sequence begins with this. */
const recordSeparator = '\u001e'

/** Returns the objects of a text in which every line is one; null for any other text. */
export function objectsOfLines(text: string): readonly unknown[] | null {
  const lines = text.replaceAll(recordSeparator, '').split('\n')
  const objects: unknown[] = []
  for (const line of lines) {
    if (line.trim() === '') continue
    const json = jsonOrUndefined(line)
    if (!isFields(json) || isVast(json)) return null
    objects.push(json)
  }
  return objects.length === 0 ? null : objects
}
