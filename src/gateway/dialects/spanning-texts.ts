import type { JsonEdit } from '../../lib/json/json-edit.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import { isFields } from '../../lib/json/fields.ts'
import type { DialectId } from './dialect.ts'
import { frameTexts } from './frame-texts.ts'
import type { TextPart } from './neutral/texts.ts'
import { isVast } from './texts/walk.ts'

/** The first step in the path of texts that stand in several frames; the second one is their channel. */
export const spanning = '*frames*'

/**
 * Returns the texts that span several frames, in at least so many pieces each. A stream need not be server-sent events: Google's is an array unless
 * asked otherwise, Ollama's are lines of JSON.
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

/** Returns edits of an array of frames as edits of its items: the first frame of a text gets all of its new words, the others none. */
export function editsOfFrames(frames: readonly unknown[], dialect: DialectId | null, edits: readonly JsonEdit[]): readonly JsonEdit[] {
  const wanted = new Map(edits.flatMap(({ path: [first, channel], value }) => (first === spanning ? [[channel, value] as const] : [])))
  if (wanted.size === 0) return edits
  const told = new Set<string>()
  const spread = frames.flatMap((frame, at) =>
    frameTexts(frame, dialect).texts.flatMap(({ channel, copyOf, path }): readonly JsonEdit[] => {
      const name = copyOf ?? channel
      if (!wanted.has(name)) return []
      const value = copyOf !== null || !told.has(name) ? wanted.get(name) : ''
      told.add(name)
      return [{ path: [at, ...path], value }]
    }),
  )
  // They come last, so that they stand in place of edits of single frames.
  return [...edits.filter(({ path: [first] }) => first !== spanning), ...spread]
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
