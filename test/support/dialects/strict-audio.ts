import { z } from 'zod'
import { readForm } from '../../../src/gateway/wire/form.ts'
import type { Behaviour } from '../emulator/behaviour.ts'
import type { Received } from '../emulator/emulator.ts'
import { firstFault, json, sse } from './strict.ts'

/** A vendor's input and output formats. */
export const sound = Buffer.from('ID3-the-sound')
export const samples = Buffer.from([1, 0, 2, 0])
export const said = 'The sun is up. It shines.'

const text = z.string()
const speaks = (contentType: string): Behaviour => ({
  status: 200,
  headers: { 'content-type': contentType },
  bodyBase64: (contentType === 'audio/pcm' ? samples : sound).toString('base64'),
})

/** Two people say it: the second has the second sentence. */
const speakerOf = (start: number): number => (start < 60 ? 0 : 1)
const words = [
  { word: 'the', punctuated_word: 'The', start: 0.1, end: 0.3, confidence: 1 },
  { word: 'sun', punctuated_word: 'sun', start: 0.3, end: 0.6, confidence: 1 },
  { word: 'is', punctuated_word: 'is', start: 0.6, end: 0.8, confidence: 1 },
  { word: 'up', punctuated_word: 'up.', start: 0.8, end: 1, confidence: 1 },
  { word: 'it', punctuated_word: 'It', start: 61.25, end: 61.5, confidence: 1 },
  { word: 'shines', punctuated_word: 'shines.', start: 61.5, end: 62, confidence: 1 },
]
const asDeepgram = {
  metadata: { request_id: 'r', duration: 62.5, channels: 1 },
  results: { channels: [{ detected_language: 'en', alternatives: [{ transcript: said, confidence: 1, words }] }] },
}
const diarizedByDeepgram = {
  ...asDeepgram,
  results: {
    channels: [
      {
        detected_language: 'en',
        alternatives: [
          { transcript: said, confidence: 1, words: words.map((word) => Object.assign({ speaker: speakerOf(word.start) }, word)) },
        ],
      },
    ],
  },
}
const asElevenlabs = {
  language_code: 'eng',
  language_probability: 1,
  text: said,
  words: words.flatMap(({ punctuated_word: word, start, end }) => [
    { text: word, start, end, type: 'word', logprob: -0.1 },
    { text: ' ', start: end, end, type: 'spacing', logprob: 0 },
  ]),
}
const diarizedByElevenlabs = {
  ...asElevenlabs,
  words: asElevenlabs.words.map((word) => Object.assign({ speaker_id: `speaker_${speakerOf(word.start)}` }, word)),
}
const asWhisper = {
  result: {
    text: ` ${said}`,
    transcription_info: { language: 'en', duration: 62.5 },
    segments: [{ start: 0, end: 62, text: said, words: words.map(({ punctuated_word: word, start, end }) => ({ word, start, end })) }],
  },
  success: true,
  errors: [],
  messages: [],
}
const counts = { promptTokenCount: 32, candidatesTokenCount: 8, totalTokenCount: 40 }
const ofGemini = (part: object) => ({
  candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
  usageMetadata: counts,
})

const content = (part: z.ZodType) => z.tuple([z.strictObject({ role: z.literal('user'), parts: z.array(part).min(1) })])
const spokenByGemini = z.strictObject({
  contents: content(z.strictObject({ text })),
  generationConfig: z.strictObject({
    responseModalities: z.tuple([z.literal('AUDIO')]),
    speechConfig: z.strictObject({
      voiceConfig: z.strictObject({ prebuiltVoiceConfig: z.strictObject({ voiceName: text }) }),
    }),
  }),
})
const heardByGemini = z.strictObject({
  contents: content(
    z.union([
      z.strictObject({ text }),
      z.strictObject({ inlineData: z.strictObject({ mimeType: z.literal('audio/mpeg'), data: z.base64() }) }),
    ]),
  ),
  generationConfig: z.strictObject({ temperature: z.number() }).optional(),
})

interface Endpoint {
  readonly path: RegExp
  /** The fields of the query. */
  readonly query?: z.ZodType
  /** Absent: the sound itself is sent. */
  readonly body?: z.ZodType
  readonly answer: Behaviour
}

const endpoints: readonly Endpoint[] = [
  {
    path: /^\/eleven\/v1\/text-to-speech\/\w+$/,
    query: z.strictObject({ output_format: z.enum(['mp3_44100_128', 'opus_48000_128']) }),
    body: z.strictObject({
      text,
      model_id: text,
      voice_settings: z.strictObject({ speed: z.number().min(0.7).max(1.2) }).optional(),
    }),
    answer: speaks('audio/mpeg'),
  },
  {
    path: /^\/eleven\/v1\/text-to-speech\/\w+$/,
    query: z.strictObject({ output_format: z.literal('pcm_24000') }),
    body: z.strictObject({ text, model_id: text }),
    answer: speaks('audio/pcm'),
  },
  {
    path: /^\/eleven\/v1\/speech-to-text$/,
    body: z.strictObject({
      model_id: text,
      timestamps_granularity: z.literal('word'),
      tag_audio_events: z.literal('false'),
      diarize: z.undefined().optional(),
      language_code: text.optional(),
      temperature: text.optional(),
      file: z.literal(sound.toString()),
    }),
    answer: json(asElevenlabs),
  },
  {
    path: /^\/eleven\/v1\/speech-to-text$/,
    body: z.strictObject({
      model_id: text,
      timestamps_granularity: z.literal('word'),
      tag_audio_events: z.literal('false'),
      diarize: z.literal('true'),
      file: z.literal(sound.toString()),
    }),
    answer: json(diarizedByElevenlabs),
  },
  {
    path: /^\/deepgram\/v1\/speak$/,
    query: z.strictObject({
      model: z.literal('aura-2-thalia-en'),
      encoding: z.enum(['mp3', 'opus', 'aac', 'flac', 'linear16']),
      container: z.enum(['ogg', 'wav', 'none']).optional(),
      sample_rate: z.literal('24000').optional(),
    }),
    body: z.strictObject({ text }),
    answer: speaks('audio/mpeg'),
  },
  {
    path: /^\/deepgram\/v1\/listen$/,
    query: z.strictObject({
      model: text,
      smart_format: z.literal('true'),
      language: text.optional(),
      detect_language: z.literal('true').optional(),
    }),
    answer: json(asDeepgram),
  },
  {
    path: /^\/deepgram\/v1\/listen$/,
    query: z.strictObject({
      model: text,
      smart_format: z.literal('true'),
      diarize: z.literal('true'),
      language: text.optional(),
      detect_language: z.literal('true').optional(),
    }),
    answer: json(diarizedByDeepgram),
  },
  {
    path: /^\/cohere\/v2\/audio\/transcriptions$/,
    body: z.strictObject({
      model: text,
      language: z.string().regex(/^[a-z]{2}$/),
      temperature: text.optional(),
      file: z.literal(sound.toString()),
    }),
    answer: json({ text: said }),
  },
  { path: /^\/hf\/hf-inference\/models\/openai\/whisper-large-v3$/, answer: json({ text: ` ${said}` }) },
  {
    path: /gemini-[^/]*:streamGenerateContent$/,
    query: z.strictObject({ alt: z.literal('sse') }),
    body: heardByGemini,
    answer: sse([
      [null, { candidates: [{ content: { role: 'model', parts: [{ text: 'Hm.', thought: true }] } }] }],
      [null, { candidates: [{ content: { role: 'model', parts: [{ text: 'The sun is up.' }] } }] }],
      [
        null,
        { candidates: [{ content: { role: 'model', parts: [{ text: ' It shines.\n' }] }, finishReason: 'STOP' }], usageMetadata: counts },
      ],
    ]),
  },
  {
    path: /gemini-[^/]*-tts:generateContent$/,
    body: spokenByGemini,
    answer: json(ofGemini({ inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: samples.toString('base64') } })),
  },
  { path: /gemini-[^/]*:generateContent$/, body: heardByGemini, answer: json(ofGemini({ text: `${said}\n` })) },
  {
    path: /@cf\/deepgram\/aura/,
    body: z.strictObject({ text, speaker: text, encoding: text, container: text.optional(), sample_rate: z.number().optional() }),
    answer: speaks('audio/mpeg'),
  },
  {
    path: /@cf\/openai\/whisper-large-v3-turbo$/,
    body: z.strictObject({
      audio: z.base64(),
      task: z.enum(['transcribe', 'translate']),
      language: text.optional(),
      initial_prompt: text.optional(),
    }),
    answer: json(asWhisper),
  },
  { path: /@cf\/openai\/whisper$/, answer: json(asWhisper) },
]

/** Returns the fields of a form, files as texts. */
export const fieldsOfForm = ({ body, headers }: Received): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (readForm(body, headers['content-type'] ?? '') ?? []).map(({ name, start, end }) => [name, body.toString('utf8', start, end)]),
  )

const fits = ({ query = z.unknown(), body = z.unknown() }: Endpoint, asked: object, sent: unknown): boolean =>
  query.safeParse(asked).success && body.safeParse(sent).success

/** Speaks and transcribes as strictly as the vendors do. */
export function speaksStrictly(received: Received): Behaviour {
  const { pathname, searchParams } = new URL(received.url, 'http://localhost')
  const query = Object.fromEntries([...searchParams].filter(([name]) => name !== 'key'))
  const found = endpoints.filter(({ path }) => path.test(decodeURIComponent(pathname)))
  const isForm = received.headers['content-type']?.startsWith('multipart/') === true
  const endpoint = found.find((one) => fits(one, query, isForm ? fieldsOfForm(received) : received.json)) ?? found[0]
  if (endpoint === undefined) return json({ message: `no ${received.url}` }, 404)
  const sent = endpoint.body === undefined ? received.body.equals(sound) : isForm ? fieldsOfForm(received) : received.json
  const read = (endpoint.body ?? z.literal(true)).safeParse(sent)
  const asked = (endpoint.query ?? z.unknown()).safeParse(query)
  const error = read.error ?? asked.error
  return error === undefined ? endpoint.answer : json({ message: firstFault(error) }, 400)
}
