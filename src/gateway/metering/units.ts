import type { Fields } from '../../lib/json/fields.ts'
import type { Counts } from '../dialects/neutral/counts.ts'
import { milliseconds } from '../dialects/read-counts.ts'
import { subtitledMs } from '../dialects/served-facts.ts'
import type { ToldAnswer } from '../dialects/told-answer.ts'
import type { WatchedForm } from '../wire/form-watch.ts'
import { recordedMs } from '../wire/recorded-length.ts'

/** An answer without tokens, and the request for it. */
interface UnmeteredAnswer {
  readonly operation: string
  /** The body of the request. */
  readonly json: Fields
  /** The form that was sent; null: it is none, or no reader reads it. */
  readonly upload: WatchedForm | null
  readonly told: ToldAnswer
  /** The last bytes of the answer. */
  readonly tail: () => Buffer
}

interface Units {
  readonly counts: Counts
  readonly estimated: boolean
}

const noUnits: Units = { counts: {}, estimated: false }

/** Returns the count of units that are sold by the piece. */
export function unitsOf(made: UnmeteredAnswer): Units {
  const { operation, json } = made
  switch (operation) {
    case 'imageGenerate':
    case 'imageEdit':
    case 'imageVary':
      return { counts: { image: imagesOf(made) }, estimated: false }
    case 'createSpeech':
      return { counts: { input_character: typeof json['input'] === 'string' ? codePoints(json['input']) : 0 }, estimated: false }
    case 'createTranscription':
    case 'createTranslation':
      return soundOf(made)
    default:
      return noUnits
  }
}

/** Counts the images of an answer. One that did not come whole is believed to have as many as were asked for. */
function imagesOf({ told, json }: UnmeteredAnswer): number {
  const asked = typeof json['n'] === 'number' && Number.isSafeInteger(json['n']) && json['n'] > 0 ? json['n'] : 1
  return Math.max(told.images, told.isWhole ? 0 : asked)
}

/** Returns the length of the recording behind a transcription, from the answer, or else the subtitles, or the recording itself. */
function soundOf({ told, tail, upload }: UnmeteredAnswer): Units {
  if (told.duration !== null) return { counts: { input_audio_second: milliseconds(told.duration) }, estimated: false }
  const ms = (told.isJson ? null : subtitledMs(tail())) ?? (upload === null ? null : recordedMs(upload))
  return ms === null ? noUnits : { counts: { input_audio_second: ms }, estimated: true }
}

/** Speech is sold by Unicode code points, not by UTF-16 units. */
function codePoints(input: string): number {
  let count = 0
  for (const point of input) count += point.length > 0 ? 1 : 0
  return count
}
