import { type Fields, isFields } from '../../../lib/json/fields.ts'
import { readCounts } from '../google/counts.ts'
import { saidFields, saidList, saidText } from '../reading.ts'
import type { TaskAnswer, TaskContext, TypedBytes, WrittenAnswer } from '../tasks/task.ts'
import type { SpeechProvider } from './neutral.ts'
import { wavOf } from './wav.ts'

/** Plain samples come at this rate, as OpenAI's do. */
const rate = 24_000

/** Returns the provider's word for a format; refuses one that it has not. */
function formatFor<T>(
  format: string | null,
  words: Readonly<Record<string, T>>,
  { usual, loss }: { readonly usual: string } & Pick<TaskContext, 'loss'>,
): T {
  const word = words[format ?? usual]
  return word ?? loss.refuseAt('response_format', `has only ${Object.keys(words).join(', ')}`)
}

const elevenFormats = { mp3: 'mp3_44100_128', opus: 'opus_48000_128', pcm: 'pcm_24000', wav: 'pcm_24000' }

/** elevenlabs.io/docs/api-reference/text-to-speech/convert: the path names the voice, and the query the format. */
const elevenlabs: SpeechProvider = ({ text, voice, format, speed, instructions }, { model, loss }) => {
  const asked = formatFor(format, elevenFormats, { usual: 'mp3', loss })
  if (instructions !== null) loss.dropAt('instructions')
  const bounded = speed === null ? null : Math.min(Math.max(speed, 0.7), 1.2)
  if (bounded !== speed) loss.dropAt('speed', 'is from 0.7 to 1.2 there')
  return {
    bodies: [{ json: { text, model_id: model, ...(bounded !== null && { voice_settings: { speed: bounded } }) } }],
    suffix: `/${encodeURIComponent(voice)}?output_format=${asked}`,
    write: format === 'wav' ? ([answer]) => (answer === undefined ? null : { body: wav(answer.bytes), usage: null }) : 'as it comes',
  }
}

const wav = (samples: Buffer): TypedBytes => ({ contentType: 'audio/wav', bytes: wavOf(samples, rate) })

const deepgramFormats = {
  mp3: 'encoding=mp3',
  opus: 'encoding=opus&container=ogg',
  aac: 'encoding=aac',
  flac: 'encoding=flac',
  wav: 'encoding=linear16&container=wav',
  pcm: `encoding=linear16&container=none&sample_rate=${rate}`,
}

/** developers.deepgram.com/reference/text-to-speech-api: the model's name ends in voice and language. */
const deepgram: SpeechProvider = ({ text, voice, format, speed, instructions }, { model, loss }) => {
  const asked = formatFor(format, deepgramFormats, { usual: 'mp3', loss })
  if (instructions !== null) loss.dropAt('instructions')
  if (speed !== null && speed !== 1) loss.dropAt('speed')
  const isWhole = /^aura(?:-\d+)?-[a-z]+-[a-z]{2}$/.test(model)
  if (isWhole && !model.includes(`-${voice}-`)) loss.dropAt('voice', 'stands in the name of the model there')
  const spoken = isWhole ? model : `${model}-${voice}${/-[a-z]{2}$/.test(voice) ? '' : '-en'}`
  return { bodies: [{ json: { text } }], suffix: `?model=${encodeURIComponent(spoken)}&${asked}`, write: 'as it comes' }
}

/** ai.google.dev/gemini-api/docs/speech-generation: an answer in sound, of plain samples. How to speak stands before the text. */
const gemini: SpeechProvider = ({ text, voice, format, speed, instructions }, { loss }) => {
  const asked = formatFor(format, { wav: 'wav', pcm: 'pcm' }, { usual: 'wav', loss })
  if (format === null) loss.note('response_format=wav')
  if (speed !== null && speed !== 1) loss.dropAt('speed')
  const said = instructions === null ? text : `${instructions}: ${text}`
  return {
    bodies: [
      {
        json: {
          contents: [{ role: 'user', parts: [{ text: said }] }],
          generationConfig: {
            responseModalities: ['AUDIO'],
            speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } },
          },
        },
      },
    ],
    write: ([answer]) => (answer === undefined ? null : writeSamples(answer, asked === 'wav')),
  }
}

function writeSamples({ json }: TaskAnswer, asWav: boolean): WrittenAnswer | null {
  const [candidate = {}] = isFields(json) ? saidList(json, 'candidates') : []
  const parts = saidList(saidFields(candidate, 'content') ?? {}, 'parts')
  const sounds = parts.flatMap((part) => saidText(saidFields(part, 'inlineData') ?? {}, 'data') ?? [])
  if (!isFields(json) || sounds.length === 0) return null
  const samples = Buffer.concat(sounds.map((sound) => Buffer.from(sound, 'base64')))
  const counts = saidFields(json, 'usageMetadata')
  return {
    body: asWav ? wav(samples) : { contentType: `audio/pcm;rate=${rate}`, bytes: samples },
    usage: counts === null ? null : readCounts(counts),
  }
}

const workersFormats: Readonly<Record<string, Fields>> = {
  mp3: { encoding: 'mp3' },
  opus: { encoding: 'opus', container: 'ogg' },
  aac: { encoding: 'aac' },
  flac: { encoding: 'flac' },
  wav: { encoding: 'linear16', container: 'wav' },
  pcm: { encoding: 'linear16', container: 'none', sample_rate: rate },
}

/** developers.cloudflare.com/workers-ai/models/aura-1. */
const aura: SpeechProvider = ({ text, voice, format, speed, instructions }, { loss }) => {
  const asked = formatFor(format, workersFormats, { usual: 'mp3', loss })
  if (instructions !== null) loss.dropAt('instructions')
  if (speed !== null && speed !== 1) loss.dropAt('speed')
  return { bodies: [{ json: { text, speaker: voice, ...asked } }], write: 'as it comes' }
}

/** The formats of providers: a dialect with its form. */
export const speechProviders: Readonly<Record<string, SpeechProvider>> = {
  'audio/elevenlabs': elevenlabs,
  'audio/deepgram': deepgram,
  'google/gemini-speech': gemini,
  'audio/aura': aura,
}
