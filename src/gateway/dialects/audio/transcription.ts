import type { Fields } from '../../../lib/json/fields.ts'
import { unread } from '../leftovers.ts'
import { textIn, unreadable } from '../reading.ts'
import type { Loss } from '../neutral/loss.ts'
import type { SentFile, TaskContext, TaskTranslation } from '../tasks/task.ts'
import type { TranscriptionProvider, TranscriptionRequest } from './neutral.ts'
import { transcriptionProviders } from './transcription-providers.ts'
import { writeTranscript } from './transcript.ts'

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
  const request: TranscriptionRequest = {
    file,
    language: textIn(body, 'language'),
    prompt: textIn(body, 'prompt'),
    temperature: textIn(body, 'temperature'),
    task: task === 'translation' ? 'translate' : 'transcribe',
  }
  for (const name of Object.keys(unread(body, known))) loss.dropAt(name)
  for (const name of ['prompt', 'temperature'] as const) if (request[name] !== null && !provider.takes.includes(name)) loss.dropAt(name)
  return {
    ...provider.encode(request, context),
    loss,
    write([answer]) {
      const read = answer === undefined ? null : provider.decode(answer)
      return read === null ? null : { body: writeTranscript(read.transcript, format, request.task), usage: read.usage }
    },
  }
}

/** Returns the form of the answer; refuses one for which the provider does not tell enough. */
function formatIn(body: Fields, { hasTimes }: TranscriptionProvider, loss: Loss): string {
  const format = textIn(body, 'response_format') ?? 'json'
  if (!formats.includes(format)) throw unreadable('response_format', formats.join(', '))
  const able = hasTimes ? formats.filter((one) => one !== 'diarized_json') : ['json', 'text']
  if (!able.includes(format)) loss.refuseAt('response_format', `has only ${able.join(', ')}`)
  if (body['stream'] === 'true') loss.refuseAt('stream', 'has no counterpart there')
  const wantsTimes = granularities.some((name) => name in body)
  if (wantsTimes && !hasTimes) loss.refuseAt('timestamp_granularities', 'has no counterpart there')
  return format
}
