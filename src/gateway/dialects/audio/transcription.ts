import type { Fields } from '../../../lib/json/fields.ts'
import { unread } from '../leftovers.ts'
import { textIn, unreadable } from '../reading.ts'
import type { Loss } from '../neutral/loss.ts'
import type { TokenUsage } from '../neutral/token-usage.ts'
import type { SentFile, TaskContext, TaskStream, TaskTranslation } from '../tasks/task.ts'
import type { TranscriptionProvider, TranscriptionRequest, TranscriptStream } from './neutral.ts'
import { transcriptionProviders } from './transcription-providers.ts'
import { deltaEvent, doneEvent, writeEvents, writeTranscript } from './transcript.ts'

/** Clients ask as OpenAI is asked. */
export const transcriptionClients: Readonly<Record<string, true>> = { audio: true }

export interface AskedTranscription {
  readonly task: string
  readonly to: string
  readonly body: Fields
  readonly files: readonly SentFile[]
}

const granularities = ['timestamp_granularities', 'timestamp_granularities[]']
const known = new Set(['model', 'language', 'prompt', 'temperature', 'response_format', 'stream', ...granularities])
const formats = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json']

/** Translates a request for the text of a sound. Throws `invalid_request`. */
export function translateTranscription({ task, to, body, files }: AskedTranscription, context: TaskContext): TaskTranslation | null {
  const provider = transcriptionProviders[to]
  if (provider === undefined) return null
  const { loss } = context
  const file = files.find(({ name }) => name === 'file')
  if (file === undefined) throw unreadable('file', 'a file')
  const format = formatIn(body, provider, loss)
  const streams = streamIn(body, format, task)
  const request: TranscriptionRequest = {
    file,
    language: textIn(body, 'language'),
    prompt: textIn(body, 'prompt'),
    temperature: textIn(body, 'temperature'),
    task: task === 'translation' ? 'translate' : 'transcribe',
    tellsSpeakers: format === 'diarized_json',
  }
  for (const name of Object.keys(unread(body, known))) loss.dropAt(name)
  for (const name of ['prompt', 'temperature'] as const) if (request[name] !== null && !provider.takes.includes(name)) loss.dropAt(name)
  return {
    ...provider.encode(request, context),
    ...(streams && provider.stream !== undefined && { stream: streamOf(provider.stream()) }),
    loss,
    write([answer]) {
      const read = answer === undefined ? null : provider.decode(answer)
      if (read === null) return null
      const { transcript, usage } = read
      return { body: streams ? writeEvents(transcript, format) : writeTranscript(transcript, format, request.task), usage }
    },
  }
}

/** Returns true if a stream is asked for, which has the words alone, or their speakers. */
function streamIn(body: Fields, format: string, task: string): boolean {
  if (body['stream'] !== 'true' || task === 'translation') return false
  if (format !== 'json' && format !== 'diarized_json') throw unreadable('stream', 'false for this response_format')
  return true
}

/** Turns the pieces of a transcript into the events of OpenAI's stream. */
function streamOf(transcript: TranscriptStream): TaskStream {
  let text = ''
  return {
    take(data) {
      const piece = transcript.piece(data) ?? ''
      text += piece
      return piece === '' ? '' : deltaEvent(piece)
    },
    end() {
      const usage = transcript.usage()
      return usage === undefined ? null : doneEvent(text.trim(), usage === null ? {} : { usage: tokensOf(usage) })
    },
    usage: () => transcript.usage() ?? null,
  }
}

const tokensOf = ({ input, output }: TokenUsage): Fields => ({
  type: 'tokens',
  input_tokens: input ?? 0,
  output_tokens: output ?? 0,
  total_tokens: (input ?? 0) + (output ?? 0),
})

/** Returns the form of the answer; refuses one for which the provider returns too little. */
function formatIn(body: Fields, { hasTimes, tellsSpeakers }: TranscriptionProvider, loss: Loss): string {
  const format = textIn(body, 'response_format') ?? 'json'
  if (!formats.includes(format)) throw unreadable('response_format', formats.join(', '))
  const able = hasTimes ? formats.filter((one) => one !== 'diarized_json' || tellsSpeakers) : ['json', 'text']
  if (!able.includes(format)) loss.refuseAt('response_format', `has only ${able.join(', ')}`)
  const wantsTimes = granularities.some((name) => name in body)
  if (wantsTimes && !hasTimes) loss.refuseAt('timestamp_granularities', 'has no counterpart there')
  return format
}
