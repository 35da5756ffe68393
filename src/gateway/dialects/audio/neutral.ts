import type { TokenUsage } from '../neutral/token-usage.ts'
import type { SentFile, TaskAnswer, TaskContext, TaskTranslation } from '../tasks/task.ts'
import type { Transcript } from './transcript.ts'

/** A request to speak a text. Null: not set. */
export interface SpeechRequest {
  readonly text: string
  /** The name of a voice of the provider's. */
  readonly voice: string
  /** `mp3`, `opus`, `aac`, `flac`, `wav` or `pcm`. */
  readonly format: string | null
  readonly speed: number | null
  readonly instructions: string | null
}

/** Writes the call for one provider format. */
export type SpeechProvider = (request: SpeechRequest, context: TaskContext) => Omit<TaskTranslation, 'loss'>

/** A request for the text of a sound. Null: not set. */
export interface TranscriptionRequest {
  readonly file: SentFile
  readonly language: string | null
  readonly prompt: string | null
  readonly temperature: string | null
  readonly task: 'transcribe' | 'translate'
  /** True if the caller wants the text by speaker. */
  readonly tellsSpeakers: boolean
}

/** Writes the call for one provider format, and reads its answer. */
export interface TranscriptionProvider {
  /** True if it returns the time of each word. */
  readonly hasTimes: boolean
  /** True if it can distinguish speakers. */
  readonly tellsSpeakers: boolean
  readonly takes: readonly ('prompt' | 'temperature')[]
  encode(request: TranscriptionRequest, context: TaskContext): Pick<TaskTranslation, 'bodies' | 'suffix'>
  /** Reads an answer that comes in pieces; absent: it comes whole. */
  readonly stream?: () => TranscriptStream
  /** Null: it is no answer. */
  decode(answer: TaskAnswer): { readonly transcript: Transcript; readonly usage: TokenUsage | null } | null
}

/** Reads one transcript that comes in pieces. */
export interface TranscriptStream {
  /** Returns the text that an event brings; null: it is no event of an answer. */
  piece(data: string): string | null
  /** Undefined: the answer was cut. Null: the provider stated no tokens. */
  usage(): TokenUsage | null | undefined
}
