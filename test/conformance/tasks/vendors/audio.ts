import { DeepgramClient } from '@deepgram/sdk'
import { ElevenLabsClient } from '@elevenlabs/elevenlabs-js'
import { said as spoken, samples, sound } from '../../../support/dialects/strict-audio.ts'
import { cohereAt, geminiAt, huggingfaceAt, key, type VendorProofs } from './clients.ts'

const bytesOf = async (stream: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>): Promise<Buffer> => {
  const pieces: Uint8Array[] = []
  for await (const piece of stream) pieces.push(piece)
  return Buffer.concat(pieces)
}

const elevenAt = (origin: string): ElevenLabsClient => new ElevenLabsClient({ baseUrl: `${origin}/eleven`, apiKey: key, maxRetries: 0 })
const deepgramAt = (origin: string): DeepgramClient =>
  new DeepgramClient({ apiKey: key, baseUrl: `${origin}/deepgram`, environment: { base: `${origin}/deepgram` } as never, maxRetries: 0 })

export const audio: VendorProofs = {
  elevenlabs: [
    {
      title: 'speech at a speed',
      async ask(origin) {
        const answer = await elevenAt(origin).textToSpeech.convert('thalia', {
          text: 'a sun',
          modelId: 'eleven_multilingual_v2',
          outputFormat: 'mp3_44100_128',
          voiceSettings: { speed: 1.1 },
        })
        return [String(await bytesOf(answer))]
      },
      said: [String(sound)],
    },
    {
      title: 'a transcript',
      async ask(origin) {
        const answer = await elevenAt(origin).speechToText.convert({
          modelId: 'scribe_v1',
          file: new Blob([sound]),
          timestampsGranularity: 'word',
          tagAudioEvents: false,
          languageCode: 'en',
        })
        return ['text' in answer ? (answer.text ?? 'none') : 'none']
      },
      said: [spoken],
    },
  ],
  'deepgram-speech': [
    {
      title: 'speech',
      async ask(origin) {
        const answer = await deepgramAt(origin).speak.v1.audio.generate({ text: 'a sun', model: 'aura-2-thalia-en', encoding: 'mp3' })
        return [String(Buffer.from(await answer.arrayBuffer()))]
      },
      said: [String(sound)],
    },
  ],
  deepgram: [
    {
      title: 'a transcript',
      async ask(origin) {
        const answer = await deepgramAt(origin).listen.v1.media.transcribeFile(sound, {
          model: 'nova-3',
          smart_format: true,
          detect_language: true,
        })
        return ['results' in answer ? (answer.results.channels[0]?.alternatives?.[0]?.transcript ?? 'none') : 'none']
      },
      said: [spoken],
    },
  ],
  'gemini-speech': [
    {
      title: 'speech',
      async ask(origin) {
        const answer = await geminiAt(origin).models.generateContent({
          model: 'gemini-2.5-flash-preview-tts',
          contents: 'a sun',
          config: {
            responseModalities: ['AUDIO'],
            speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
          },
        })
        return [answer.data ?? 'none']
      },
      said: [samples.toString('base64')],
    },
  ],
  gemini: [
    {
      title: 'a transcript',
      async ask(origin) {
        const answer = await geminiAt(origin).models.generateContent({
          model: 'gemini-2.5-flash',
          contents: [
            {
              role: 'user',
              parts: [{ text: 'Write down what is said.' }, { inlineData: { mimeType: 'audio/mpeg', data: sound.toString('base64') } }],
            },
          ],
          config: { temperature: 0 },
        })
        return [(answer.text ?? 'none').trim()]
      },
      said: [spoken],
    },
  ],
  cohere: [
    {
      title: 'a transcript',
      async ask(origin) {
        const file = new File([sound], 'audio.mp3', { type: 'audio/mpeg' })
        const asked = { model: 'cohere-transcribe-03-2026', language: 'en', temperature: 0.2 }
        const { text } = await cohereAt(origin).audio.transcriptions.create(file, asked)
        return [text]
      },
      said: [spoken],
    },
  ],
  huggingface: [
    {
      title: 'a transcript',
      async ask(origin) {
        const { text } = await huggingfaceAt(origin, 'automatic-speech-recognition').automaticSpeechRecognition({
          model: 'openai/whisper-large-v3',
          provider: 'hf-inference',
          data: new Blob([sound]),
        })
        return [text.trim()]
      },
      said: [spoken],
    },
  ],
}
