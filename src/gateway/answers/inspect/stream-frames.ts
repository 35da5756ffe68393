import { parseAnswer } from '../../../lib/json/json.ts'
import { editJson } from '../../../lib/json/json-edit.ts'
import type { JsonPath } from '../../../lib/json/json-path.ts'
import type { DialectId } from '../../dialects/dialect.ts'
import { frameTexts, isLastFrame } from '../../dialects/frame-texts.ts'
import type { ExtractedTexts } from '../../dialects/neutral/texts.ts'
import { doneMark } from '../../dialects/openai-chat/marks.ts'
import { piece } from '../../dialects/texts/shape.ts'
import { isVast } from '../../dialects/texts/walk.ts'
import { cutFrames, dataOf, withData } from '../../wire/sse.ts'

/** One server-sent event. */
export interface Frame extends ExtractedTexts {
  readonly bytes: Buffer
  /** True when no text of the model comes after it. */
  readonly last: boolean
}

/** Reads bytes that hold whole frames; bytes behind the last end are a frame too. */
export const readFrames = (bytes: Buffer, dialect: DialectId | null): readonly Frame[] =>
  cutFrames(bytes).map((frame) => toFrame(frame, dialect))

function toFrame(bytes: Buffer, dialect: DialectId | null): Frame {
  const data = dataOf(bytes)
  if (data === doneMark) return { texts: [], ends: [], bytes, last: true }
  const json = parsed(data)
  if (json === undefined) return { ends: [], bytes, texts: data === '' ? [] : [piece('data', { path: [], text: data })], last: false }
  return { ...frameTexts(json, dialect), bytes, last: isLastFrame(json) }
}

/** Returns the JSON that the bytes of one frame hold; undefined when they hold none. */
export const frameJson = (bytes: Buffer): unknown => parsed(dataOf(bytes))

/** The JSON of a frame; undefined when it is none, or too much to be looked through: then it is a text like any other. */
function parsed(data: string): unknown {
  if (!data.startsWith('{') && !data.startsWith('[')) return undefined
  try {
    const json = parseAnswer(data)
    return isVast(json) ? undefined : json
  } catch {
    return undefined
  }
}

/** Returns the frame with other texts, its other lines as they were. */
export function rewriteFrame(bytes: Buffer, edits: readonly { readonly path: JsonPath; readonly value: string }[]): Buffer {
  const data = dataOf(bytes)
  return withData(bytes, parsed(data) === undefined ? (edits.at(-1)?.value ?? '') : editJson(data, edits))
}
