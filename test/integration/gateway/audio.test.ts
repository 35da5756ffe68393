import test from 'ava'
import OpenAI, { toFile } from 'openai'
import { said, samples, sound, speaksStrictly } from '../../support/dialects/strict-audio.ts'
import { json } from '../../support/dialects/strict.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** OpenAI's client speaks and transcribes by every provider that does, in any format. */
let cloud: Emulator
let bed: GatewayBed

test.before(async () => {
  cloud = await startEmulator()
  const at = (provider: string, base: string, fields: Record<string, string> = {}) => ({
    provider,
    customHost: cloud.origin + base,
    credential: { key: 'sk-upstream', fields },
  })
  bed = await startGateway({
    providers: {
      gpt: at('openai', '/v1'),
      gemini: at('google', '/google'),
      eleven: at('elevenlabs', '/eleven'),
      deepgram: at('deepgram', '/deepgram'),
      cloudflare: at('workers-ai', '', { workers_ai_account_id: 'account' }),
      hf: at('huggingface', '/hf'),
      cohere: at('cohere', '/cohere'),
      claude: at('anthropic', '/anthropic'),
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})
test.beforeEach(() => {
  cloud.reset()
  cloud.script({ behaviour: speaksStrictly })
})

const openai = (headers: Record<string, string> = {}) =>
  new OpenAI({ baseURL: `${bed.origin}/v1`, apiKey: workspaceKey, maxRetries: 0, defaultHeaders: headers })

interface Speech {
  readonly model: string
  readonly voice: string
  readonly ask?: Partial<OpenAI.Audio.SpeechCreateParams>
  readonly url: string
  readonly dropped?: string
}

const speeches: readonly Speech[] = [
  {
    model: '@eleven/eleven_multilingual_v2',
    voice: '21m00Tcm4TlvDq8ikWAM',
    ask: { speed: 2, instructions: 'gently' },
    url: '/eleven/v1/text-to-speech/21m00Tcm4TlvDq8ikWAM?output_format=mp3_44100_128',
    dropped: 'instructions, speed',
  },
  { model: '@deepgram/aura-2', voice: 'thalia', url: '/deepgram/v1/speak?model=aura-2-thalia-en&encoding=mp3' },
  {
    model: '@deepgram/aura-2-thalia-en',
    voice: 'alloy',
    ask: { response_format: 'pcm' },
    url: '/deepgram/v1/speak?model=aura-2-thalia-en&encoding=linear16&container=none&sample_rate=24000',
    dropped: 'voice',
  },
  {
    model: '@cloudflare/@cf/deepgram/aura-1',
    voice: 'angus',
    url: '/client/v4/accounts/account/ai/run/%40cf/deepgram/aura-1',
  },
]

for (const { model, voice, ask = {}, url, dropped = null } of speeches)
  test.serial(`audio: ${model} speaks with ${voice} for OpenAI's client`, async (t) => {
    const entry = bed.nextLog()
    const answer = await openai().audio.speech.create({ model, voice, input: 'a sun', ...ask })
    t.deepEqual(Buffer.from(await answer.arrayBuffer()), sound)
    t.is(answer.headers.get('content-type'), 'audio/mpeg')
    t.is(answer.headers.get('x-service-dropped-params'), dropped)
    t.is(cloud.requests[0]?.url, url)
    const { record } = await entry
    t.is(record.operation, 'createSpeech')
    t.deepEqual(record.cost?.charges[0]?.counts, { input_character: 5 })
  })

test.serial('audio: plain samples become a WAV file, with the tokens that Gemini tells', async (t) => {
  const asked = { voice: 'Kore', input: 'a sun', instructions: 'Say gently' } as const
  const entry = bed.nextLog()
  const answer = await openai().audio.speech.create({ model: '@gemini/gemini-2.5-flash-preview-tts', ...asked })
  const bytes = Buffer.from(await answer.arrayBuffer())
  t.is(bytes.toString('latin1', 0, 4) + bytes.toString('latin1', 8, 12), 'RIFFWAVE')
  t.is(bytes.readUInt32LE(24), 24_000)
  t.deepEqual(bytes.subarray(44), samples)
  t.is(answer.headers.get('x-service-dropped-params'), 'response_format=wav')
  t.like(cloud.requests[0]?.json, { contents: [{ parts: [{ text: 'Say gently: a sun' }] }] })
  t.like((await entry).record.usage, { inputTokens: 32, outputTokens: 8 })
  const eleven = await openai().audio.speech.create({ model: '@eleven/eleven_v3', voice: 'rachel', input: 'a sun', response_format: 'wav' })
  t.is(Buffer.from(await eleven.arrayBuffer()).length, 44 + samples.length)
})

const hears = [
  '@deepgram/nova-3',
  '@eleven/scribe_v1',
  '@cloudflare/@cf/openai/whisper-large-v3-turbo',
  '@cloudflare/@cf/openai/whisper',
] as const
const file = () => toFile(sound, 'speech.mp3', { type: 'audio/mpeg' })

for (const model of hears)
  test.serial(`audio: ${model} hears for OpenAI's client, in every form of a text`, async (t) => {
    const ask = async (format: 'json' | 'verbose_json' | 'srt' | 'vtt' | 'text') =>
      openai().audio.transcriptions.create({ model, file: await file(), response_format: format })
    t.is((await ask('json')).text, said)
    const verbose = await openai().audio.transcriptions.create({
      model,
      file: await file(),
      response_format: 'verbose_json',
      timestamp_granularities: ['word'],
    })
    t.like(verbose, { text: said, words: { 1: { word: 'sun', start: 0.3, end: 0.6 } } })
    t.deepEqual(
      verbose.segments?.map(({ text }) => text),
      ['The sun is up.', 'It shines.'],
    )
    t.deepEqual<unknown, unknown>(await ask('text'), `${said}\n`)
    t.deepEqual<unknown, unknown>(
      await ask('srt'),
      '1\n00:00:00,100 --> 00:00:01,000\nThe sun is up.\n\n2\n00:01:01,250 --> 00:01:02,000\nIt shines.\n\n',
    )
    t.deepEqual<unknown, unknown>(
      await ask('vtt'),
      'WEBVTT\n\n00:00:00.100 --> 00:00:01.000\nThe sun is up.\n\n00:01:01.250 --> 00:01:02.000\nIt shines.\n\n',
    )
  })

test.serial('audio: the seconds of a sound are counted, and fields without a place are named', async (t) => {
  const entry = bed.nextLog()
  const { data, response } = await openai()
    .audio.transcriptions.create({ model: '@deepgram/nova-3', file: await file(), language: 'en', prompt: 'sun', temperature: 0.2 })
    .withResponse()
  t.deepEqual(data.usage, { type: 'duration', seconds: 62.5 })
  t.is(response.headers.get('x-service-dropped-params'), 'prompt, temperature')
  t.is(cloud.requests[0]?.url, '/deepgram/v1/listen?model=nova-3&smart_format=true&language=en')
  const { record } = await entry
  t.is(record.operation, 'createTranscription')
  t.deepEqual(record.cost?.charges[0]?.counts, { input_audio_second: 62_500 })
})

test.serial('audio: Cohere hears in the language that is named, and gets the texts of its form ahead of a file with a name', async (t) => {
  const asked = { model: '@cohere/cohere-transcribe-03-2026', file: await file(), language: 'en', temperature: 0.2, prompt: 'sun' }
  const { data, response } = await openai().audio.transcriptions.create(asked).withResponse()
  t.is(data.text, said)
  t.is(response.headers.get('x-service-dropped-params'), 'prompt')
  const form = cloud.requests[0]?.body.toString() ?? ''
  t.deepEqual(
    [...form.matchAll(/form-data; (.+)/g)].map(([, one]) => one?.trim()),
    ['name="model"', 'name="language"', 'name="temperature"', 'name="file"; filename="audio.mpeg"'],
  )
})

test.serial('audio: Gemini writes down and translates what it hears, without times', async (t) => {
  const model = '@gemini/gemini-2.5-flash'
  const entry = bed.nextLog()
  const { text } = await openai().audio.transcriptions.create({ model, file: await file(), temperature: 0 })
  t.is(text, said)
  t.like((await entry).record.usage, { inputTokens: 32, outputTokens: 8 })
  t.is((await openai().audio.translations.create({ model, file: await file() })).text, said)
  t.regex(JSON.stringify(cloud.requests[1]?.json), /Translate what is said in this audio into English/)
  const srt = openai().audio.transcriptions.create({ model, file: await file(), response_format: 'srt' })
  const refused = await t.throwsAsync(srt, { instanceOf: OpenAI.BadRequestError })
  t.is(refused?.param, 'response_format')
})

for (const model of ['@deepgram/nova-3', '@eleven/scribe_v1'])
  test.serial(`audio: ${model} tells who said what, whole and as a stream`, async (t) => {
    const segments = [
      { type: 'transcript.text.segment', id: 'seg_0', start: 0.1, end: 1, text: 'The sun is up.', speaker: 'A' },
      { type: 'transcript.text.segment', id: 'seg_1', start: 61.25, end: 62, text: 'It shines.', speaker: 'B' },
    ]
    const whole = await openai().audio.transcriptions.create({ model, file: await file(), response_format: 'diarized_json' })
    t.like(whole, { task: 'transcribe', text: said, segments })
    const events: OpenAI.Audio.TranscriptionStreamEvent[] = []
    const asked = { model, file: await file(), response_format: 'diarized_json', stream: true } as const
    for await (const event of await openai().audio.transcriptions.create(asked)) events.push(event)
    t.like(events, [...segments, { type: 'transcript.text.done', text: said }])
  })

const listen = async (model: string) => {
  const events: OpenAI.Audio.TranscriptionStreamEvent[] = []
  for await (const event of await openai().audio.transcriptions.create({ model, file: await file(), stream: true })) events.push(event)
  return events
}

test.serial('audio: a text comes as a stream, in pieces where the provider gives pieces', async (t) => {
  t.deepEqual(await listen('@hf/openai/whisper-large-v3'), [
    { type: 'transcript.text.delta', delta: said },
    { type: 'transcript.text.done', text: said },
  ])
  const entry = bed.nextLog()
  t.deepEqual(await listen('@gemini/gemini-2.5-flash'), [
    { type: 'transcript.text.delta', delta: 'The sun is up.' },
    { type: 'transcript.text.delta', delta: ' It shines.\n' },
    { type: 'transcript.text.done', text: said, usage: { type: 'tokens', input_tokens: 32, output_tokens: 8, total_tokens: 40 } },
  ])
  t.like((await entry).record.usage, { inputTokens: 32, outputTokens: 8 })
  const whole = speaksStrictly(cloud.requests.at(-1) as never)
  cloud.script({ behaviour: { ...whole, cutAt: 200 } })
  await t.throwsAsync(listen('@gemini/gemini-2.5-flash'))
  cloud.script({ behaviour: { ...whole, body: whole.body?.slice(0, 200) ?? '' } })
  await t.throwsAsync(listen('@gemini/gemini-2.5-flash'))
})

test.serial('audio: what has no counterpart is refused by its name, and a provider that does not hear with those that do', async (t) => {
  const form = { model: '@deepgram/nova-3', file: await file() }
  for (const [param, ask] of [
    ['stream', { stream: true, response_format: 'srt' }],
    ['response_format', { response_format: 'diarized_json', model: '@cloudflare/@cf/openai/whisper' }],
    ['response_format', { response_format: 'verbose_json', model: '@hf/openai/whisper-large-v3' }],
    ['language', { model: '@cohere/cohere-transcribe-03-2026' }],
  ] as const) {
    const error = await t.throwsAsync(openai().audio.transcriptions.create({ ...form, ...ask }), { instanceOf: OpenAI.BadRequestError })
    t.is(error?.param, param)
  }
  const unknown = openai().audio.speech.create({ model: '@eleven/eleven_v3', voice: '../x', input: 'a' })
  t.is((await t.throwsAsync(unknown, { instanceOf: OpenAI.BadRequestError }))?.param, 'voice')
  for (const provider of ['@claude', '@deepgram']) {
    const asks = openai({ 'x-service-provider': provider }).audio.translations.create({ model: 'm', file: await file() })
    const error = await t.throwsAsync(asks, { instanceOf: OpenAI.BadRequestError })
    t.is(error?.code, 'unsupported_operation')
    t.regex(error?.message ?? '', /does not serve \/audio\/translations.*These do: openai/)
  }
  t.is(cloud.requests.length, 0)
})

test.serial("audio: errors of a provider keep their status and words; a provider of OpenAI's format gets the form as it is", async (t) => {
  cloud.script({ behaviour: json({ detail: { status: 'quota_exceeded', message: 'no credits left' } }, 429) })
  const speech = openai().audio.speech.create({ model: '@eleven/eleven_v3', voice: 'rachel', input: 'a' })
  await t.throwsAsync(speech, { instanceOf: OpenAI.RateLimitError, message: /no credits left/ })
  cloud.script({ behaviour: json({ text: said }) })
  await openai().audio.transcriptions.create({ model: '@gpt/whisper-1', file: await file() })
  t.is(cloud.requests.at(-1)?.url, '/v1/audio/transcriptions')
})
