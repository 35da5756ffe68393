import { SseReader } from '../../../src/gateway/wire/sse-events.ts'
import { json, sse } from '../../support/dialects/strict.ts'
import { refusalOfWorkers } from '../../support/dialects/strict-workers.ts'
import type { Received } from '../../support/emulator/emulator.ts'
import { type Address, addressOf, type Ask, type ProviderSide, type Say, saidOf, type Talk, type Talker } from '../talk.ts'
import { chatProvider } from './openai-chat.ts'

type Message = Readonly<Record<string, unknown>>

interface Params {
  readonly messages: readonly Message[]
  readonly [field: string]: unknown
}

interface Answer {
  readonly response: string | object | null
  readonly tool_calls?: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[]
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number }
}

const toMessages = ({ role, pieces }: Ask['turns'][number]): readonly Message[] => {
  const results = pieces.flatMap((piece) =>
    'result' in piece ? [{ role: 'tool', tool_call_id: piece.result.id, content: piece.result.text }] : [],
  )
  if (results.length > 0) return results
  const text = pieces.flatMap((piece) => ('text' in piece ? [piece.text] : [])).join('')
  const calls = pieces.flatMap((piece) => ('call' in piece ? [toCall(piece.call)] : []))
  if (role === 'assistant') return [{ role, content: text, ...(calls.length > 0 && { tool_calls: calls }) }]
  if (!pieces.some((piece) => 'image' in piece)) return [{ role, content: text }]
  const content = pieces.flatMap((piece): object[] => {
    if ('text' in piece) return [{ type: 'text', text: piece.text }]
    return 'image' in piece ? [{ type: 'image_url', image_url: { url: addressOf(piece.image) } }] : []
  })
  return [{ role, content }]
}

const toCall = ({ id, name, args }: NonNullable<Say['calls']>[number]) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
})

const toParams = (ask: Ask): Params => ({
  max_tokens: ask.maxTokens,
  messages: [...(ask.system === undefined ? [] : [{ role: 'system', content: ask.system }]), ...ask.turns.flatMap(toMessages)],
  ...(ask.tools && { tools: ask.tools.map(({ name, parameters }) => ({ type: 'function', function: { name, parameters } })) }),
  ...(ask.schema && { response_format: { type: 'json_schema', json_schema: ask.schema } }),
})

const sayOf = ({ response, tool_calls: calls = [], usage }: Answer, most: unknown): Say => ({
  ...(response && { text: typeof response === 'string' ? response : JSON.stringify(response) }),
  calls: calls.map(({ name, arguments: args }, index) => ({ id: `call_${index}`, name, args })),
  stop: calls.length > 0 ? 'tool-calls' : usage.completion_tokens >= Number(most) ? 'length' : 'stop',
  counts: { input: usage.prompt_tokens, cached: 0, output: usage.completion_tokens, thought: 0 },
})

async function gather(bytes: AsyncIterable<Uint8Array>): Promise<Answer> {
  const reader = new SseReader()
  const calls: NonNullable<Answer['tool_calls']>[number][] = []
  let [response, usage]: [string, Answer['usage'] | null] = ['', null]
  for await (const piece of bytes)
    for (const { data } of reader.push(Buffer.from(piece)) ?? []) {
      if (data === null || data === '[DONE]') continue
      const event = JSON.parse(data) as Answer
      response += typeof event.response === 'string' ? event.response : ''
      calls.push(...(event.tool_calls ?? []))
      usage = event.usage ?? usage
    }
  if (usage === null) throw new Error('the stream was cut')
  return { response, tool_calls: calls, usage }
}

const bodyOf = ({ body }: Response): AsyncIterable<Uint8Array> => body as unknown as AsyncIterable<Uint8Array>

/** Asks as the page of a model describes it: Cloudflare's own client passes bodies on as they are, and is a hundred megabytes. */
export function workersTalker({ origin, key, model }: Address): Talker {
  const run = async (params: Params): Promise<Response> => {
    const answer = await fetch(`${origin}/client/v4/accounts/account/ai/run/${model}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(params),
    })
    if (!answer.ok || answer.body === null) throw new Error(await answer.text())
    return answer
  }
  const send = async (params: Params, stream: boolean): Promise<Talk> => {
    const given = await run(stream ? { ...params, stream: true } : params)
    const answer = stream ? await gather(bodyOf(given)) : ((await given.json()) as { readonly result: Answer }).result
    const say = sayOf(answer, params['max_tokens'])
    const calls = say.calls ?? []
    return {
      said: saidOf(say),
      calls,
      answer: (results) =>
        send(
          {
            ...params,
            messages: [
              ...params.messages,
              { role: 'assistant', content: say.text ?? '', tool_calls: calls.map(toCall) },
              ...results.map(({ result }) => ({ role: 'tool', tool_call_id: result.id, content: result.text })),
            ],
          },
          stream,
        ),
    }
  }
  return { talk: (ask, stream) => send(toParams(ask), stream) }
}

const usageOf = ({ counts, stop }: Say, most: unknown) => {
  const used = stop === 'length' ? Number(most) : counts.output
  return { prompt_tokens: counts.input, completion_tokens: used, total_tokens: counts.input + used }
}
const callsOf = ({ calls }: Say) => calls && { tool_calls: calls.map(({ name, args }) => ({ name, arguments: args })) }

function heard(received: Received) {
  const { json: body } = received
  const format = body['response_format'] as { readonly json_schema?: object } | undefined
  const schema = format?.json_schema
  return chatProvider.heard({
    ...received,
    json: { ...body, ...(schema && { response_format: { type: 'json_schema', json_schema: { schema } } }) },
  })
}

/** Workers AI's own way to run a model. */
export const workersProvider: ProviderSide = {
  isStream: ({ json: body }) => body['stream'] === true,
  refusal: refusalOfWorkers,
  heard,
  whole: (say, { json: body }) =>
    json({
      result: { response: say.text ?? null, ...callsOf(say), usage: usageOf(say, body['max_tokens']) },
      success: true,
      errors: [],
      messages: [],
    }),
  stream: (say, { json: body }) =>
    sse([
      ...Array.from(say.text ?? '', (response) => [null, { response, p: 'abdef' }] as const),
      ...(say.calls ?? []).map((call) => [null, { response: '', ...callsOf({ ...say, calls: [call] }) }] as const),
      [null, { response: '', usage: usageOf(say, body['max_tokens']) }],
      [null, '[DONE]'],
    ]),
  error: (status, message) => ({ result: null, success: false, errors: [{ code: status, message }], messages: [] }),
}
