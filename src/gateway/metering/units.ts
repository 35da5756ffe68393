import type { Fields } from '../../lib/json/fields.ts'
import type { Counts } from '../dialects/neutral/counts.ts'
import { transcribedMs } from '../dialects/served-facts.ts'
import { type HeldUpload, recordedMs } from '../wire/recorded-length.ts'
import type { Bytes } from './tool-uses.ts'

/** An answer that tells no tokens, and the request for it. */
interface Made {
  readonly operation: string
  /** The body of the request. */
  readonly json: Fields
  /** The ends of an upload; null: it is none, or not held. */
  readonly upload: HeldUpload | null
  readonly bytes: Bytes
}

interface Units {
  readonly counts: Counts
  readonly estimated: boolean
}

const noUnits: Units = { counts: {}, estimated: false }

/** Returns the count of what is sold by the piece. */
export function unitsOf({ operation, json, upload, bytes }: Made): Units {
  switch (operation) {
    case 'imageGenerate':
    case 'imageEdit':
    case 'imageVary':
      return { counts: { image: imagesOf(json, bytes.head) }, estimated: false }
    case 'createSpeech':
      return { counts: { input_character: typeof json['input'] === 'string' ? codePoints(json['input']) : 0 }, estimated: false }
    case 'createTranscription':
    case 'createTranslation': {
      const found = transcribedMs(bytes)
      if (found !== null) return { counts: { input_audio_second: found.ms }, estimated: found.estimated }
      const ms = upload === null ? null : recordedMs(upload)
      return ms === null ? noUnits : { counts: { input_audio_second: ms }, estimated: true }
    }
    default:
      return noUnits
  }
}

/** Counts the images of an answer. One that is too long to be held is believed to have as many as were asked for. */
function imagesOf(json: Fields, head: Buffer): number {
  const found = [...head.toString('latin1').matchAll(/"(?:b64_json|url)"\s*:\s*"/g)].length
  const asked = typeof json['n'] === 'number' && Number.isSafeInteger(json['n']) && json['n'] > 0 ? json['n'] : 1
  return Math.max(found, isWhole(head) ? 0 : asked)
}

const closingBrace = 0x7d
const space = 0x20

/** Returns true if an answer ends as an object does; white space may follow it. */
const isWhole = (head: Buffer): boolean => head[head.findLastIndex((byte) => byte > space)] === closingBrace

/** Speech is sold by Unicode code points, not by UTF-16 units. */
function codePoints(input: string): number {
  let count = 0
  for (const point of input) count += point.length > 0 ? 1 : 0
  return count
}
