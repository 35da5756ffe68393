import Replicate, { type Prediction } from 'replicate'
import { json } from '../../support/dialects/strict.ts'
import { refusalOfReplicate } from '../../support/dialects/strict-replicate.ts'
import type { Behaviour } from '../../support/emulator/behaviour.ts'
import type { Received } from '../../support/emulator/emulator.ts'
import {
  type Address,
  addressOf,
  type Ask,
  heardOf,
  heardUrl,
  type Lines,
  type ProviderSide,
  saidOf,
  type Say,
  type Talker,
} from '../talk.ts'

interface Input {
  readonly prompt: string
  readonly system_prompt?: string
  readonly max_tokens: number
  readonly image?: string
  readonly stop_sequences?: string
}

function toInput({ system, turns, maxTokens, stop }: Ask): Input {
  const pieces = turns.flatMap((turn) => turn.pieces)
  const [image] = pieces.flatMap((piece) => ('image' in piece ? [addressOf(piece.image)] : []))
  return {
    prompt: pieces.flatMap((piece) => ('text' in piece ? [piece.text] : [])).join('\n\n'),
    max_tokens: maxTokens,
    ...(system !== undefined && { system_prompt: system }),
    ...(image !== undefined && { image }),
    ...(stop !== undefined && { stop_sequences: stop }),
  }
}

const sayOf = (text: string, metrics: Record<string, number> = {}): Say => ({
  ...(text !== '' && { text }),
  stop: 'stop',
  counts: { input: metrics['input_token_count'] ?? -1, cached: 0, output: metrics['output_token_count'] ?? -1, thought: 0 },
})

/** Replicate's own client, which proves its emulator. */
export function replicateTalker({ origin, key, model }: Address): Talker {
  const client = new Replicate({ auth: key, baseUrl: `${origin}/v1`, useFileOutput: false })
  const name = model as `${string}/${string}`
  const whole = async (input: Input): Promise<Say> => {
    const begun = await client.predictions.create({ model: name, input })
    const { output, metrics } = await client.wait(begun, { interval: 1 })
    return sayOf((output as readonly string[]).join(''), metrics)
  }
  const streamed = async (input: Input): Promise<Say> => {
    let made: Prediction | null = null
    const listening = new Replicate({
      auth: key,
      baseUrl: `${origin}/v1`,
      useFileOutput: false,
      fetch: async (...asked) => {
        const answer = await fetch(...asked)
        if (answer.status === 201) made = (await answer.clone().json()) as Prediction
        return answer
      },
    })
    let [text, isDone] = ['', false]
    for await (const { event, data } of listening.stream(name, { input })) {
      if (event === 'output') text += data
      isDone ||= event === 'done'
    }
    if (!isDone || made === null) throw new Error('the stream was cut')
    const { metrics } = await client.predictions.get((made as Prediction).id)
    return sayOf(text, metrics)
  }
  return {
    async talk(ask, stream) {
      const say = await (stream ? streamed(toInput(ask)) : whole(toInput(ask)))
      return { said: saidOf(say), calls: [], answer: () => Promise.reject(new Error('It makes no calls.')) }
    },
  }
}

function heard({ json: body }: Received): Lines {
  const { prompt, system_prompt: system, image, stop_sequences: stop, max_tokens: maxTokens } = body['input'] as Input
  return [
    ...(system === undefined ? [] : [`system ${system}`]),
    ...(image === undefined ? [] : [`user image ${heardUrl(image)}`]),
    ...prompt.split('\n\n').map((text) => `user text ${text}`),
    ...heardOf({ turns: [], maxTokens, ...(stop !== undefined && { stop }) }),
  ]
}

/** The predictions that were begun: the text of each, and how often it was asked for. */
const jobs = new Map<string, { readonly say: Say; asked: number }>()

function predictionOf(id: string, { headers }: Received, status: string): object {
  const origin = `http://${headers.host}`
  const say = jobs.get(id)?.say
  const isEnded = status === 'succeeded'
  return {
    id,
    model: 'meta/meta-llama-3-70b-instruct',
    version: 'hidden',
    input: {},
    output: isEnded ? Array.from(say?.text ?? '') : null,
    error: null,
    status,
    created_at: '2026-11-23T10:00:00.000Z',
    metrics: isEnded ? { predict_time: 1.5, input_token_count: say?.counts.input, output_token_count: say?.counts.output } : {},
    urls: {
      get: `${origin}/v1/predictions/${id}`,
      cancel: `${origin}/v1/predictions/${id}/cancel`,
      stream: `${origin}/v1/streams/${id}`,
    },
  }
}

const event = (name: string, data: string) => `event: ${name}\nid: 1\n${data.replaceAll(/^/gm, 'data: ')}\n\n`

const streamOf = (say: Say): Behaviour => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: [...Array.from(say.text ?? '', (text) => event('output', text)), event('done', '{}')].join(''),
})

const paths = /^\/v1\/(predictions|streams)\/(job\d+)(\/cancel)?$/

/** Predictions of models that write. */
export const replicateProvider: ProviderSide = {
  isStream: ({ json: body }) => body['stream'] === true,
  refusal: refusalOfReplicate,
  heard,
  begin(say, received) {
    const id = `job${jobs.size}`
    jobs.set(id, { say, asked: 0 })
    return json(predictionOf(id, received, 'starting'), 201)
  },
  /** The first look at a prediction finds it at work; one that streamed has ended. */
  follow(received) {
    const [, kind, id = '', cancels] = paths.exec(received.url) ?? []
    const job = jobs.get(id)
    if (kind === undefined || job === undefined) return null
    if (cancels !== undefined) return { answer: json(predictionOf(id, received, 'canceled')), isStream: false }
    job.asked += 1
    if (kind === 'streams') return { answer: streamOf(job.say), isStream: true }
    return { answer: json(predictionOf(id, received, job.asked === 1 ? 'processing' : 'succeeded')), isStream: false }
  },
  streamPath: /^\/v1\/streams\//,
  whole: (say, received) => json(predictionOf('none', received, say.text === undefined ? 'failed' : 'succeeded')),
  stream: streamOf,
  error: (status, message) => ({ title: 'Refused', detail: message, status }),
}
