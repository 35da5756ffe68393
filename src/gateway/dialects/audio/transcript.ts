import type { Fields } from '../../../lib/json/fields.ts'
import type { TypedBytes } from '../tasks/task.ts'

/** One spoken word; times in seconds. */
export interface SpokenWord {
  readonly word: string
  readonly start: number
  readonly end: number
  /** The provider's name of the speaker; null: it named none. */
  readonly speaker: string | null
}

/** The text of a sound, in no vendor's words. */
export interface Transcript {
  readonly text: string
  readonly language: string | null
  /** The length in seconds; null: the provider did not state it. */
  readonly duration: number | null
  /** Null: the provider gives no times. */
  readonly words: readonly SpokenWord[] | null
}

/** A piece of a transcript that is shown at once. */
interface Line {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly speaker: string | null
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
      lines.push({ text: open.map(({ word }) => word).join(' '), start: first.start, end: last.end, speaker: first.speaker })
    open = []
  }
  for (const word of words) {
    const [first] = open
    if (first !== undefined && (isLong(open, first, word) || first.speaker !== word.speaker)) close()
    open.push(word)
    if (endsSentence.test(word.word)) close()
  }
  close()
  return lines
}

const isLong = (open: readonly SpokenWord[], first: SpokenWord, next: SpokenWord): boolean =>
  open.length >= mostWords || next.end - first.start > longestSeconds

const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')

/** Returns a time as subtitles have it: hours, minutes, seconds, thousandths. */
function stamp(seconds: number, mark: ',' | '.'): string {
  const whole = Math.max(0, Math.round(seconds * 1000))
  const [hours, minutes, rest] = [two(whole / 3_600_000), two((whole / 60_000) % 60), two((whole / 1000) % 60)]
  return `${hours}:${minutes}:${rest}${mark}${String(whole % 1000).padStart(3, '0')}`
}

const plain = (contentType: string, text: string): TypedBytes => ({ contentType, bytes: Buffer.from(text) })

const writers: Readonly<Record<string, (transcript: Transcript) => { readonly json: Fields } | TypedBytes>> = {
  json: (transcript) => ({ json: { text: transcript.text, ...usageOf(transcript) } }),
  diarized_json: (transcript) => ({ json: diarized(transcript) }),
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

const usageOf = ({ duration }: Transcript): Fields => (duration === null ? {} : { usage: { type: 'duration', seconds: duration } })

/** Speakers are A, B and so on, as they begin to speak. */
function segmentsOf({ words }: Transcript): readonly Fields[] {
  const heard: (string | null)[] = []
  return linesOf(words ?? []).map(({ text, start, end, speaker }, at) => {
    if (!heard.includes(speaker)) heard.push(speaker)
    return { type: 'transcript.text.segment', id: `seg_${at}`, start, end, text, speaker: nameOf(heard.indexOf(speaker)) }
  })
}

const letters = 26
const nameOf = (index: number): string =>
  (index >= letters ? nameOf(Math.floor(index / letters) - 1) : '') + String.fromCodePoint(65 + (index % letters))

const diarized = (transcript: Transcript): Fields => ({
  task: 'transcribe',
  duration: transcript.duration ?? transcript.words?.at(-1)?.end ?? 0,
  text: transcript.text,
  segments: segmentsOf(transcript),
  ...usageOf(transcript),
})

const event = (data: Fields): string => `event: ${String(data['type'])}\ndata: ${JSON.stringify(data)}\n\n`

/** Returns the event of a piece of a text. */
export const deltaEvent = (delta: string): string => event({ type: 'transcript.text.delta', delta })

/** Returns the event that ends a stream. */
export const doneEvent = (text: string, usage: Fields): string => event({ type: 'transcript.text.done', text, ...usage })

/** Writes a transcript that came whole as the stream that the caller asks for. */
export function writeEvents(transcript: Transcript, format: string): TypedBytes {
  const { text } = transcript
  const pieces = format === 'diarized_json' ? segmentsOf(transcript).map(event) : text === '' ? [] : [deltaEvent(text)]
  return plain('text/event-stream; charset=utf-8', [...pieces, doneEvent(text, usageOf(transcript))].join(''))
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
  ...(words !== null && { words: words.map(({ word, start, end }) => ({ word, start, end })) }),
  segments: linesOf(words ?? []).map(({ text: said, start, end }, id) => ({ id, start, end, text: said })),
})
