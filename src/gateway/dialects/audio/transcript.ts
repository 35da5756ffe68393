import type { Fields } from '../../../lib/json/fields.ts'
import type { TypedBytes } from '../tasks/task.ts'

/** One spoken word; times in seconds. */
export interface SpokenWord {
  readonly word: string
  readonly start: number
  readonly end: number
}

/** The text of a sound, in no vendor's words. */
export interface Transcript {
  readonly text: string
  readonly language: string | null
  /** In seconds; null: the provider did not say. */
  readonly duration: number | null
  /** Null: the provider gives no times. */
  readonly words: readonly SpokenWord[] | null
}

/** A piece of a transcript that is shown at once. */
interface Line {
  readonly text: string
  readonly start: number
  readonly end: number
}

const mostWords = 12
const longestSeconds = 7
const endsSentence = /[.?!。？！]["')\]]?$/

/** Returns the lines of a transcript: a sentence each, or a part of a long one. */
export function linesOf(words: readonly SpokenWord[]): readonly Line[] {
  const lines: Line[] = []
  let open: SpokenWord[] = []
  const close = (): void => {
    const [first] = open
    const last = open.at(-1)
    if (first !== undefined && last !== undefined)
      lines.push({ text: open.map(({ word }) => word).join(' '), start: first.start, end: last.end })
    open = []
  }
  for (const word of words) {
    const [first] = open
    if (first !== undefined && (open.length >= mostWords || word.end - first.start > longestSeconds)) close()
    open.push(word)
    if (endsSentence.test(word.word)) close()
  }
  close()
  return lines
}

const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')

/** Returns a time as subtitles have it: hours, minutes, seconds, thousandths. */
function stamp(seconds: number, mark: ',' | '.'): string {
  const whole = Math.max(0, Math.round(seconds * 1000))
  const [hours, minutes, rest] = [two(whole / 3_600_000), two((whole / 60_000) % 60), two((whole / 1000) % 60)]
  return `${hours}:${minutes}:${rest}${mark}${String(whole % 1000).padStart(3, '0')}`
}

const plain = (contentType: string, text: string): TypedBytes => ({ contentType, bytes: Buffer.from(text) })

const writers: Readonly<Record<string, (transcript: Transcript) => { readonly json: Fields } | TypedBytes>> = {
  json: ({ text, duration }) => ({ json: { text, ...(duration !== null && { usage: { type: 'duration', seconds: duration } }) } }),
  text: ({ text }) => plain('text/plain; charset=utf-8', `${text}\n`),
  srt: ({ words }) =>
    plain(
      'text/plain; charset=utf-8',
      linesOf(words ?? [])
        .map(({ text, start, end }, at) => `${at + 1}\n${stamp(start, ',')} --> ${stamp(end, ',')}\n${text}\n\n`)
        .join(''),
    ),
  vtt: ({ words }) =>
    plain(
      'text/vtt; charset=utf-8',
      `WEBVTT\n\n${linesOf(words ?? [])
        .map(({ text, start, end }) => `${stamp(start, '.')} --> ${stamp(end, '.')}\n${text}\n\n`)
        .join('')}`,
    ),
}

/** Writes a transcript in the form that the caller asks for. */
export function writeTranscript(
  transcript: Transcript,
  format: string,
  task: 'transcribe' | 'translate',
): { readonly json: Fields } | TypedBytes {
  return writers[format]?.(transcript) ?? { json: verbose(transcript, task) }
}

const verbose = ({ text, language, duration, words }: Transcript, task: string): Fields => ({
  task,
  language: language ?? 'unknown',
  duration: duration ?? words?.at(-1)?.end ?? 0,
  text,
  ...(words !== null && { words }),
  segments: linesOf(words ?? []).map(({ text: said, start, end }, id) => ({ id, start, end, text: said })),
})
