import OpenAI from 'openai'
import type { Address, Ask, Say, Stop, Talk, Talker } from '../talk.ts'
import { saidOf } from '../talk.ts'

type Params = Omit<OpenAI.CompletionCreateParamsNonStreaming, 'stream'>

/** A prompt is all that this format says: it has no instructions beside it. */
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
        // The client's types have no null, which is what stands there until the last piece.
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
