import { toFile } from 'openai'
import { said, samples, sound, speaksStrictly } from '../../support/dialects/strict-audio.ts'
import { json } from '../../support/dialects/strict.ts'
import type { Behaviour } from '../../support/emulator/behaviour.ts'
import type { Received } from '../../support/emulator/emulator.ts'
import type { Lines } from '../talk.ts'
import { type Area, clouds, errorIn, plainError, type TaskAddress } from './area.ts'
import { openaiAt } from './clients.ts'

const file = () => toFile(sound, 'speech.mp3', { type: 'audio/mpeg' })

const heardSound = (bytes: Buffer): string => {
  if (bytes.equals(sound)) return 'sound as it was said'
  return bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.subarray(44).equals(samples) ? 'sound in a WAV file' : bytes.toString('base64')
}

async function speak(address: TaskAddress, more: object = {}): Promise<Lines> {
  const answer = await openaiAt(address).audio.speech.create({ model: address.model, voice: 'thalia', input: 'a sun', ...more })
  return [heardSound(Buffer.from(await answer.arrayBuffer()))]
}

const write = async (address: TaskAddress, more: object = {}): Promise<Lines> => [
  (await openaiAt(address).audio.transcriptions.create({ model: address.model, file: await file(), ...more })).text,
]

async function writeAsStream(address: TaskAddress): Promise<Lines> {
  const texts: string[] = []
  for await (const event of await openaiAt(address).audio.transcriptions.create({ model: address.model, file: await file(), stream: true }))
    if (event.type === 'transcript.text.done') texts.push(event.text)
  return texts
}

async function writeWithTimes(address: TaskAddress): Promise<Lines> {
  const asked = { model: address.model, file: await file(), response_format: 'verbose_json', timestamp_granularities: ['word'] } as const
  const { words = [] } = await openaiAt(address).audio.transcriptions.create({ ...asked, timestamp_granularities: ['word'] })
  return words.slice(0, 2).map(({ word, start, end }) => `${word.toLowerCase()} ${start} ${end}`)
}

const translate = async (address: TaskAddress): Promise<Lines> => [
  (await openaiAt(address).audio.translations.create({ model: address.model, file: await file() })).text,
]

/** The client reads OpenAI's own answers unchanged. */
function serve(received: Received): Behaviour {
  if (!received.url.startsWith('/openai/')) return speaksStrictly(received)
  if (received.url.endsWith('/speech'))
    return { status: 200, headers: { 'content-type': 'audio/mpeg' }, bodyBase64: sound.toString('base64') }
  const words = [
    { word: 'the', start: 0.1, end: 0.3 },
    { word: 'sun', start: 0.3, end: 0.6 },
  ]
  if (!received.body.includes('name="stream"')) return json({ text: said, words })
  const done = { type: 'transcript.text.done', text: said }
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: `data: ${JSON.stringify(done)}\n\n` }
}

const bytes = new RegExp(sound.toString('base64').replaceAll(/[+=]/g, '.'))
const instructions = /Say gently/
const workers = { ...clouds.workers, base: '' }

export const audio: Area = {
  title: 'Audio',
  tasks: ['speech', 'transcription', 'translation'],
  unable: 'anthropic',
  serve,
  clients: {
    speech: {
      title: "OpenAI's speech",
      refusedAs: '/audio/speech',
      cases: {
        'a text': { ask: (address) => speak(address), heard: ['a sun', /thalia/], said: ['sound as it was said'] },
        'with instructions': {
          ask: (address) => speak(address, { instructions: 'Say gently' }),
          heard: [/a sun/, instructions],
          said: ['sound as it was said'],
        },
      },
    },
    transcriptions: {
      title: "OpenAI's transcriptions",
      refusedAs: '/audio/transcriptions',
      cases: {
        'with its language': { ask: (address) => write(address, { language: 'en' }), heard: [bytes], said: [said] },
        'a sound': { ask: (address) => write(address), heard: [bytes], said: [said] },
        'as a stream': { ask: writeAsStream, heard: [bytes], said: [said] },
        'with the times of words': { ask: writeWithTimes, heard: [bytes], said: ['the 0.1 0.3', 'sun 0.3 0.6'] },
      },
    },
    translations: {
      title: "OpenAI's translations",
      refusedAs: '/audio/translations',
      cases: { 'a sound': { ask: translate, heard: [bytes], said: [said] } },
    },
  },
  providers: {
    openai: { title: 'OpenAI', row: 'openai', base: '/openai', model: 'gpt-4o-transcribe', format: null, error: plainError },
    elevenlabs: {
      title: 'ElevenLabs',
      row: 'elevenlabs',
      base: '/eleven',
      model: 'eleven_multilingual_v2',
      format: 'audio/elevenlabs',
      clients: ['speech', 'transcriptions'],
      error: (message) => ({ detail: { status: 'some', message } }),
    },
    'deepgram-speech': {
      title: 'Deepgram, Aura',
      row: 'deepgram',
      base: '/deepgram',
      model: 'aura-2',
      format: 'audio/deepgram',
      clients: ['speech'],
      error: (message) => ({ err_code: 'SOME', err_msg: message }),
    },
    deepgram: {
      title: 'Deepgram, Nova',
      row: 'deepgram',
      base: '/deepgram',
      model: 'nova-3',
      format: 'audio/deepgram',
      clients: ['transcriptions'],
      error: (message) => ({ err_code: 'SOME', err_msg: message }),
    },
    'gemini-speech': {
      ...clouds.google,
      title: 'Gemini, speech',
      base: '/google',
      model: 'gemini-2.5-flash-preview-tts',
      format: 'google/gemini-speech',
      clients: ['speech'],
    },
    gemini: {
      ...clouds.google,
      title: 'Gemini',
      base: '/google',
      model: 'gemini-2.5-flash',
      format: 'google/gemini-transcription',
      clients: ['transcriptions', 'translations'],
    },
    aura: { ...workers, title: 'Workers AI, Aura', model: '@cf/deepgram/aura-1', format: 'audio/aura', clients: ['speech'] },
    whisper: {
      ...workers,
      title: 'Workers AI, Whisper',
      model: '@cf/openai/whisper',
      format: 'audio/whisper',
      clients: ['transcriptions'],
    },
    'whisper-turbo': {
      ...workers,
      title: 'Workers AI, Whisper turbo',
      model: '@cf/openai/whisper-large-v3-turbo',
      format: 'audio/whisper-turbo',
      clients: ['transcriptions', 'translations'],
    },
    cohere: {
      title: 'Cohere',
      row: 'cohere',
      base: '/cohere',
      model: 'cohere-transcribe-03-2026',
      format: 'audio/cohere',
      clients: ['transcriptions'],
      error: (message) => ({ id: 'i', message }),
    },
    huggingface: {
      title: 'Hugging Face',
      row: 'huggingface',
      base: '/hf',
      model: 'openai/whisper-large-v3',
      format: 'audio/huggingface',
      clients: ['transcriptions'],
      error: errorIn('error'),
    },
  },
  departures: [
    {
      note: 'The language is dropped and named.',
      providers: ['whisper', 'huggingface'],
      cases: ['with its language'],
      dropped: ['language'],
    },
    {
      note: 'A sound whose language is not named is refused: Cohere must be told it.',
      providers: ['cohere'],
      cases: ['a sound', 'as a stream'],
      refused: /language cannot be translated for cohere: it must be named there/,
    },
    {
      note: 'Plain samples are all that Gemini says: they come in a WAV file, which is named.',
      providers: ['gemini-speech'],
      said: [[/^sound as it was said$/, 'sound in a WAV file']],
      dropped: ['response_format=wav'],
    },
    {
      note: 'Instructions are dropped and named.',
      providers: ['elevenlabs', 'deepgram-speech', 'aura'],
      cases: ['with instructions'],
      unheard: [instructions],
      dropped: ['instructions'],
    },
    {
      note: 'Times are refused: the provider tells none.',
      providers: ['gemini', 'huggingface', 'cohere'],
      cases: ['with the times of words'],
      refused: /response_format cannot be translated for (?:google|huggingface|cohere): it has only json, text/,
    },
  ],
}
