import { editJson } from '../../../lib/json/json-edit.ts'
import type { JsonPath } from '../../../lib/json/json-path.ts'
import type { DialectId } from '../../dialects/dialect.ts'
import { doneMark, frameTexts, isLastFrame } from '../../dialects/frame-texts.ts'
import type { ExtractedTexts } from '../../dialects/neutral/texts.ts'
import { piece } from '../../dialects/texts/shape.ts'
import { isVast } from '../../dialects/texts/walk.ts'

/** One server-sent event. */
export interface Frame extends ExtractedTexts {
  readonly bytes: Buffer
  /** Whether nothing that a model says comes after it. */
  readonly last: boolean
}

const frameEnd = /(?:\r\n|\n|\r)(?:\r\n|\n|\r)/g

/** Cuts bytes that hold whole frames; what is behind the last end is a frame too. */
export function cutFrames(bytes: Buffer, dialect: DialectId | null): readonly Frame[] {
  const frames: Frame[] = []
  let from = 0
  for (const { index, 0: end } of bytes.toString('latin1').matchAll(frameEnd)) {
    frames.push(toFrame(bytes.subarray(from, index + end.length), dialect))
    from = index + end.length
  }
  if (from < bytes.length) frames.push(toFrame(bytes.subarray(from), dialect))
  return frames
}

function toFrame(bytes: Buffer, dialect: DialectId | null): Frame {
  const data = dataOf(bytes)
  if (data === doneMark) return { texts: [], ends: [], bytes, last: true }
  const json = parsed(data)
  if (json === undefined) return { ends: [], bytes, texts: data === '' ? [] : [piece('data', { path: [], text: data })], last: false }
  return { ...frameTexts(json, dialect), bytes, last: isLastFrame(json) }
}

/** The lines end where those of the client's parser do: at CR and LF, and not at the other line ends that Unicode has. */
const linesOf = (bytes: Buffer): readonly string[] => bytes.toString('utf8').split(/\r\n|\n|\r/)

const dataOf = (bytes: Buffer): string =>
  linesOf(bytes)
    .flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : line.startsWith('data:') ? [line.slice(5)] : []))
    .join('\n')

/** Returns the JSON that the bytes of one frame hold; undefined when they hold none. */
export const frameJson = (bytes: Buffer): unknown => parsed(dataOf(bytes))

/** The JSON of a frame; undefined when it is none, or too much to be looked through: then it is a text like any other. */
function parsed(data: string): unknown {
  if (!data.startsWith('{') && !data.startsWith('[')) return undefined
  try {
    const json: unknown = JSON.parse(data)
    return isVast(json) ? undefined : json
  } catch {
    return undefined
  }
}

/** The frame with other texts, its other lines as they were. */
export function rewriteFrame(bytes: Buffer, edits: readonly { readonly path: JsonPath; readonly value: string }[]): Buffer {
  const data = dataOf(bytes)
  const json = parsed(data)
  const changed = json === undefined ? (edits.at(-1)?.value ?? '') : editJson(data, edits)
  const others = linesOf(bytes).filter((line) => line !== '' && !line.startsWith('data:'))
  return Buffer.from([...others, ...changed.split('\n').map((line) => `data: ${line}`), '', ''].join('\n'))
}
