import OpenAI from 'openai'
import { json, sse } from '../../support/dialects/strict.ts'
import { refusalOfCompletions } from '../../support/dialects/strict-completions.ts'
import { type Address, type Ask, heardOf, type ProviderSide, type Say, saidOf, type Stop, type Talk, type Talker } from '../talk.ts'

type Params = Omit<OpenAI.CompletionCreateParamsNonStreaming, 'stream'>

/** A prompt is the whole content of this format: it has no instructions beside it. */
const toParams = (ask: Ask, model: string): Params => ({
  model,
  max_tokens: ask.maxTokens,
  prompt: ask.turns.flatMap(({ pieces }) => pieces.flatMap((piece) => ('text' in piece ? [piece.text] : []))).join('\n'),
  ...(ask.stop !== undefined && { stop: ask.stop }),
})

const stops: Readonly<Record<string, Stop>> = { stop: 'stop', length: 'length', content_filter: 'content-filter' }

function sayOf(text: string, finish: string, usage: OpenAI.CompletionUsage | undefined): Say {
  return {
    text,
    stop: stops[finish] ?? ('none' as Stop),
    counts: {
      input: usage?.prompt_tokens ?? -1,
      cached: usage?.prompt_tokens_details?.cached_tokens ?? 0,
      output: usage?.completion_tokens ?? -1,
      thought: usage?.completion_tokens_details?.reasoning_tokens ?? 0,
    },
  }
}

/** OpenAI's own client, for completions of texts. */
export function completionsTalker({ origin, key, headers, model, extra, signal }: Address): Talker {
  const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: key, maxRetries: 0, defaultHeaders: headers })
  const options = signal === undefined ? {} : { signal }
  const read = async (params: Params, stream: boolean): Promise<Say> => {
    if (!stream) {
      const { choices, usage } = await client.completions.create(params, options)
      return sayOf(choices[0]?.text ?? '', choices[0]?.finish_reason ?? '', usage)
    }
    const [texts, finishes]: [string[], string[]] = [[], []]
    let counted: OpenAI.CompletionUsage | undefined
    const asked = { ...params, stream: true, stream_options: { include_usage: true } } as const
    for await (const { choices, usage } of await client.completions.create(asked, options)) {
      for (const { text, finish_reason: finish } of choices) {
        texts.push(text)
        // The client's types have no null, which stands there until the last piece.
        if (finish as string | null) finishes.push(finish)
      }
      counted = usage ?? counted
    }
    return sayOf(texts.join(''), finishes.join(), counted)
  }
  const talk = async (params: Params, stream: boolean): Promise<Talk> => ({
    said: saidOf(await read(params, stream)),
    calls: [],
    answer: () => Promise.reject(new Error('a completion has one turn')),
  })
  return { talk: (ask, stream) => talk({ ...toParams(ask, model), ...extra }, stream) }
}

const usageOf = ({ counts }: Say): OpenAI.CompletionUsage => ({
  prompt_tokens: counts.input,
  completion_tokens: counts.output,
  total_tokens: counts.input + counts.output,
  prompt_tokens_details: { cached_tokens: counts.cached },
  completion_tokens_details: { reasoning_tokens: counts.thought },
})

const finishOf = (stop: Stop) => (stop === 'stop-sequence' ? 'stop' : stop.replace('-', '_')) as 'stop' | 'length' | 'content_filter'

const piece = (text: string, finish: string | null = null) =>
  [null, { ...envelope, choices: [{ index: 0, text, logprobs: null, finish_reason: finish }], usage: null }] as const
const envelope = { id: 'cmpl-1', object: 'text_completion', created: 5, model: 'gpt-3.5-turbo-instruct' } as const

/** OpenAI's API for completions of texts. */
export const completionsProvider: ProviderSide = {
  isStream: ({ json: body }) => body['stream'] === true,
  refusal: refusalOfCompletions,
  heard({ json: body }) {
    const { prompt, stop, max_tokens: maxTokens } = body as unknown as Params
    return heardOf({
      turns: [{ role: 'user', pieces: [prompt].flat().map((text) => ({ text: String(text) })) }],
      ...(stop && { stop: [stop].flat().join(',') }),
      maxTokens: maxTokens ?? 16,
    })
  },
  whole: (say) =>
    json({
      ...envelope,
      choices: [{ index: 0, text: say.text ?? '', logprobs: null, finish_reason: finishOf(say.stop) }],
      usage: usageOf(say),
    } satisfies OpenAI.Completion),
  stream: (say, { json: body }) =>
    sse([
      ...Array.from(say.text ?? '', (letter) => piece(letter)),
      piece('', finishOf(say.stop)),
      ...(Reflect.get(Object(body['stream_options']), 'include_usage') === true
        ? [[null, { ...envelope, choices: [], usage: usageOf(say) }] as const]
        : []),
      [null, '[DONE]'],
    ]),
  error: (_, message) => ({ error: { message, type: 'some_error', param: null, code: null } }),
}
