import { InferenceClient } from '@huggingface/inference'
import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions'
import type { Address, ProviderSide, Talker } from '../talk.ts'
import { chatProvider, chatTalkerBy, type Params } from './openai-chat.ts'

type Call = NonNullable<ChatCompletion.Choice['message']['tool_calls']>[number] & { readonly type: 'function' }

/** Adds up a stream, as a caller of the client does. */
async function gather(chunks: AsyncIterable<ChatCompletionChunk>): Promise<ChatCompletion> {
  const calls: Call[] = []
  let [content, finish, usage]: [string, string | null, ChatCompletion['usage']] = ['', null, undefined]
  for await (const { choices, usage: counted } of chunks) {
    usage = counted ?? usage
    for (const { delta, finish_reason: reason } of choices) {
      content += delta.content ?? ''
      finish = reason ?? finish
      for (const { id, function: called } of delta.tool_calls ?? []) {
        if (id !== undefined) calls.push({ id, type: 'function', function: { name: called?.name ?? '', arguments: '' } })
        const last = calls.at(-1)
        if (last !== undefined) last.function.arguments += called?.arguments ?? ''
      }
    }
  }
  const message = { role: 'assistant', content, refusal: null, ...(calls.length > 0 && { tool_calls: calls }) } as const
  return {
    id: 'c1',
    object: 'chat.completion',
    created: 5,
    model: 'm',
    choices: [{ index: 0, logprobs: null, finish_reason: finish as 'stop', message }],
    ...(usage && { usage }),
  }
}

/** The client has one word for the cap of tokens. */
function inItsWords({ max_completion_tokens: cap, stop, ...params }: Params) {
  return { ...params, max_tokens: cap, ...(stop && { stop: [stop].flat() }) } as never
}

/** Hugging Face's own client, which proves its emulator: its router has one host. */
export function huggingfaceTalker(address: Address): Talker {
  const client = new InferenceClient(`hf_${address.key}`, {
    fetch: (input: string | URL | Request, init?: RequestInit) => {
      const { host, pathname } = new URL(input instanceof Request ? input.url : input)
      if (host !== 'router.huggingface.co') throw new Error(`nobody is asked at ${host}`)
      return fetch(`${address.origin}${pathname}`, init)
    },
  })
  return chatTalkerBy(address, async (params, stream) =>
    stream
      ? gather(
          client.chatCompletionStream(
            inItsWords({ ...params, stream_options: { include_usage: true } }),
          ) as unknown as AsyncIterable<ChatCompletionChunk>,
        )
      : ((await client.chatCompletion(inItsWords(params))) as unknown as ChatCompletion),
  )
}

/** The router of Hugging Face: chats in OpenAI's format, a key in each request, and errors as one text. */
export const huggingfaceProvider: ProviderSide = {
  ...chatProvider,
  refusal(received) {
    if (received.headers.authorization === undefined) return 'Invalid username or password.'
    if (received.url !== '/v1/chat/completions') return `no ${received.url}`
    return chatProvider.refusal(received)
  },
  error: (_, message) => ({ error: message }),
}
