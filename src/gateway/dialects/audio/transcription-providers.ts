import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../../lib/json/json.ts'
import { writeForm } from '../../wire/write-form.ts'
import { readCounts } from '../google/counts.ts'
import { saidFields, saidList, saidText } from '../reading.ts'
import type { TaskAnswer } from '../tasks/task.ts'
import type { SpokenWord } from './transcript.ts'
import type { TranscriptionProvider, TranscriptStream } from './neutral.ts'

const numberOf = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null)

/** Reads words with the times at which they were said. */
const readWords = (found: readonly Fields[], field: string): readonly SpokenWord[] =>
  found.flatMap((one) => {
    const [word, start, end] = [saidText(one, field) ?? saidText(one, 'word'), numberOf(one['start']), numberOf(one['end'])]
    const speaker = numberOf(one['speaker'])?.toString() ?? saidText(one, 'speaker_id')
    return word === null || start === null || end === null ? [] : [{ word, start, end, speaker }]
  })

/** developers.deepgram.com/reference/speech-to-text-api/listen: the sound itself, and all else in the query. */
const deepgram: TranscriptionProvider = {
  hasTimes: true,
  tellsSpeakers: true,
  takes: [],
  encode({ file, language, tellsSpeakers }, { model }) {
    const spoken = language === null ? 'detect_language=true' : `language=${encodeURIComponent(language)}`
    return {
      bodies: [{ contentType: file.mediaType, bytes: file.bytes }],
      suffix: `?model=${encodeURIComponent(model)}&smart_format=true&${spoken}${tellsSpeakers ? '&diarize=true' : ''}`,
    }
  },
  decode({ json }) {
    if (!isFields(json)) return null
    const [channel] = saidList(saidFields(json, 'results') ?? {}, 'channels')
    const [best] = saidList(channel ?? {}, 'alternatives')
    const text = saidText(best ?? {}, 'transcript')
    if (channel === undefined || best === undefined || text === null) return null
    const duration = numberOf(saidFields(json, 'metadata')?.['duration'])
    const words = readWords(saidList(best, 'words'), 'punctuated_word')
    return { transcript: { text, language: saidText(channel, 'detected_language'), duration, words }, usage: null }
  },
}

/** elevenlabs.io/docs/api-reference/speech-to-text/convert. */
const elevenlabs: TranscriptionProvider = {
  hasTimes: true,
  tellsSpeakers: true,
  takes: ['temperature'],
  encode: ({ file, language, temperature, tellsSpeakers }, { model }) => ({
    bodies: [
      writeForm([
        { name: 'model_id', value: model },
        { name: 'timestamps_granularity', value: 'word' },
        { name: 'tag_audio_events', value: 'false' },
        ...(tellsSpeakers ? [{ name: 'diarize', value: 'true' }] : []),
        ...(language === null ? [] : [{ name: 'language_code', value: language }]),
        ...(temperature === null ? [] : [{ name: 'temperature', value: temperature }]),
        { name: 'file', value: { filename: 'audio', mediaType: file.mediaType, bytes: file.bytes } },
      ]),
    ],
  }),
  decode({ json }) {
    const text = isFields(json) ? saidText(json, 'text') : null
    if (!isFields(json) || text === null) return null
    const words = readWords(
      saidList(json, 'words').filter(({ type }) => type === 'word'),
      'text',
    )
    const duration = numberOf(json['audio_duration_secs']) ?? words.at(-1)?.end ?? null
    return { transcript: { text, language: saidText(json, 'language_code'), duration, words }, usage: null }
  },
}

/** ai.google.dev/gemini-api/docs/audio: a prompt asks the model to transcribe the sound. */
const gemini: TranscriptionProvider = {
  stream: geminiStream,
  hasTimes: false,
  tellsSpeakers: false,
  takes: ['prompt', 'temperature'],
  encode({ file, language, prompt, temperature, task }) {
    const asked = task === 'translate' ? 'Translate what is said in this audio into English.' : 'Transcribe this audio word for word.'
    const spoken = language === null ? '' : ` Its language is ${language}.`
    const hint = prompt === null ? '' : ` It may follow on from this, whose spelling holds: ${prompt}`
    return {
      bodies: [
        {
          json: {
            contents: [
              {
                role: 'user',
                parts: [
                  { inlineData: { mimeType: file.mediaType, data: file.bytes.toString('base64') } },
                  { text: `${asked} Answer with that text alone.${spoken}${hint}` },
                ],
              },
            ],
            ...(temperature !== null && { generationConfig: { temperature: Number(temperature) } }),
          },
        },
      ],
    }
  },
  decode({ json }) {
    if (!isFields(json)) return null
    const [candidate] = saidList(json, 'candidates')
    if (candidate === undefined) return null
    const text = spokenBy(candidate)
    const counts = saidFields(json, 'usageMetadata')
    return {
      transcript: { text: text.trim(), language: null, duration: null, words: null },
      usage: counts === null ? null : readCounts(counts),
    }
  },
}

/** Reads a stream of answers, of which each brings a piece. */
function geminiStream(): TranscriptStream {
  let [isWhole, counts]: [boolean, Fields | null] = [false, null]
  return {
    piece(data) {
      const json = jsonOrUndefined(data)
      if (!isFields(json)) return null
      counts = saidFields(json, 'usageMetadata') ?? counts
      const [candidate = {}] = saidList(json, 'candidates')
      isWhole ||= typeof candidate['finishReason'] === 'string'
      return spokenBy(candidate)
    },
    usage: () => (isWhole ? (counts === null ? null : readCounts(counts)) : undefined),
  }
}

/** Returns the transcript of a model, without its thoughts. */
const spokenBy = (candidate: Fields): string =>
  saidList(saidFields(candidate, 'content') ?? {}, 'parts')
    .filter(({ thought }) => thought !== true)
    .map((part) => saidText(part, 'text') ?? '')
    .join('')

/** Reads an answer of Whisper on Workers AI. */
function readWhisper({ json }: TaskAnswer): ReturnType<TranscriptionProvider['decode']> {
  const result = isFields(json) ? saidFields(json, 'result') : null
  const text = saidText(result ?? {}, 'text')
  if (result === null || text === null) return null
  const about = saidFields(result, 'transcription_info') ?? {}
  const within = saidList(result, 'segments').flatMap((segment) => saidList(segment, 'words'))
  const words = readWords(within.length > 0 ? within : saidList(result, 'words'), 'word')
  const duration = numberOf(about['duration']) ?? words.at(-1)?.end ?? null
  return { transcript: { text: text.trim(), language: saidText(about, 'language'), duration, words }, usage: null }
}

/** developers.cloudflare.com/workers-ai/models/whisper-large-v3-turbo. */
const whisperTurbo: TranscriptionProvider = {
  hasTimes: true,
  tellsSpeakers: false,
  takes: ['prompt'],
  encode: ({ file, language, prompt, task }) => ({
    bodies: [
      {
        json: {
          audio: file.bytes.toString('base64'),
          task,
          ...(language !== null && { language }),
          ...(prompt !== null && { initial_prompt: prompt }),
        },
      },
    ],
  }),
  decode: readWhisper,
}

/** developers.cloudflare.com/workers-ai/models/whisper: the sound alone. */
const whisper: TranscriptionProvider = {
  hasTimes: true,
  tellsSpeakers: false,
  takes: [],
  encode({ file, language }, { loss }) {
    if (language !== null) loss.dropAt('language')
    return { bodies: [{ contentType: 'application/octet-stream', bytes: file.bytes }] }
  },
  decode: readWhisper,
}

/** Reads an answer that holds the text alone. */
function readText({ json }: TaskAnswer): ReturnType<TranscriptionProvider['decode']> {
  const text = isFields(json) ? saidText(json, 'text') : null
  return text === null ? null : { transcript: { text: text.trim(), language: null, duration: null, words: null }, usage: null }
}

/**
 * docs.cohere.com/reference/create-audio-transcription: the language must be named, the texts of the form come first, and the file's name shows its
 * type.
 */
const cohere: TranscriptionProvider = {
  hasTimes: false,
  tellsSpeakers: false,
  takes: ['temperature'],
  encode({ file, language, temperature }, { model, loss }) {
    const spoken = language ?? loss.refuseAt('language', 'must be named there')
    const kind = file.mediaType.startsWith('audio/') ? file.mediaType.slice('audio/'.length) : 'mpeg'
    return {
      bodies: [
        writeForm([
          { name: 'model', value: model },
          { name: 'language', value: spoken },
          ...(temperature === null ? [] : [{ name: 'temperature', value: temperature }]),
          { name: 'file', value: { filename: `audio.${kind}`, mediaType: file.mediaType, bytes: file.bytes } },
        ]),
      ],
    }
  },
  decode: readText,
}

/** huggingface.co/docs/inference-providers/tasks/automatic-speech-recognition: the sound alone, and its text. */
const huggingface: TranscriptionProvider = {
  hasTimes: false,
  tellsSpeakers: false,
  takes: [],
  encode({ file, language }, { loss }) {
    if (language !== null) loss.dropAt('language')
    return { bodies: [{ contentType: file.mediaType, bytes: file.bytes }] }
  },
  decode: readText,
}

/** The formats of providers: a dialect with its form. */
export const transcriptionProviders: Readonly<Record<string, TranscriptionProvider>> = {
  'audio/deepgram': deepgram,
  'audio/elevenlabs': elevenlabs,
  'google/gemini-transcription': gemini,
  'audio/whisper-turbo': whisperTurbo,
  'audio/whisper': whisper,
  'audio/huggingface': huggingface,
  'audio/cohere': cohere,
}
