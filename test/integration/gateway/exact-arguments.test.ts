import test from 'ava'
import type { Behaviour } from '../../support/emulator/behaviour.ts'
import { type Emulator, startEmulator } from '../../support/emulator/emulator.ts'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

/** Arguments of calls keep their digits and the order of their keys, in all formats of client and provider. */
let cloud: Emulator
let bed: GatewayBed

test.before(async () => {
  cloud = await startEmulator()
  const at = (provider: string, fields: Readonly<Record<string, string>> = {}, key: string | null = 'k') => ({
    provider,
    customHost: cloud.origin,
    credential: { key, fields },
  })
  const aws = { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_region: 'us-east-1' }
  bed = await startGateway({
    providers: {
      openai: at('openai'),
      anthropic: at('anthropic'),
      google: at('google'),
      bedrock: at('bedrock', aws, null),
      vertex: at('vertex-ai', { vertex_project_id: 'project', vertex_region: 'europe-west1' }),
      cohere: at('cohere'),
      ollama: at('ollama'),
      groq: at('groq'),
    },
  })
})
test.after.always(async () => {
  await bed?.stop()
  await cloud?.stop()
})
test.beforeEach(() => cloud.reset())

/** Integers above 2^53, numbers that JavaScript writes otherwise, and keys that it puts first. */
const args = '{"2":"b","1":1.0,"id":2512292042121000001,"deep":[{"n":-9007199254740993,"0":[1e400,-0]}],"text":"\\n"}'
const quoted = JSON.stringify(args)
const has = (text: string): boolean => text.includes(args) || text.includes(quoted.slice(1, -1))

interface Client {
  readonly path: (model: string, stream: boolean) => string
  /** A conversation in which a tool was called. */
  readonly body: (model: string, stream: boolean) => string
  /** Returns the arguments in a stream. */
  readonly streamed: (text: string) => string
}
const frames = (text: string): readonly unknown[] =>
  text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6)) as unknown] : []))
/** Returns the text at a place of a frame; an empty one: there is none. */
function textAt(frame: unknown, ...path: readonly string[]): string {
  let value = frame
  for (const step of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, step) : null
  return typeof value === 'string' ? value : ''
}
const schema = '{"type":"object","properties":{}}'
const clients: Readonly<Record<string, Client>> = {
  chat: {
    path: () => '/v1/chat/completions',
    body: (model, stream) =>
      `{"model":"${model}","stream":${stream},"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}],"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"call00001","type":"function","function":{"name":"f","arguments":${quoted}}}]},{"role":"tool","tool_call_id":"call00001","content":"x"}]}`,
    streamed: (text) =>
      frames(text)
        .map((frame) => textAt(frame, 'choices', '0', 'delta', 'tool_calls', '0', 'function', 'arguments'))
        .join(''),
  },
  responses: {
    path: () => '/v1/responses',
    body: (model, stream) =>
      `{"model":"${model}","stream":${stream},"tools":[{"type":"function","name":"f","parameters":${schema}}],"input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"call00001","name":"f","arguments":${quoted}},{"type":"function_call_output","call_id":"call00001","output":"x"}]}`,
    streamed: (text) =>
      textAt(
        frames(text).find((frame) => textAt(frame, 'type') === 'response.function_call_arguments.done'),
        'arguments',
      ),
  },
  messages: {
    path: () => '/v1/messages',
    body: (model, stream) =>
      `{"model":"${model}","max_tokens":50,"stream":${stream},"system":"x-anthropic-billing-header: cch=1;\\nBe brief.","tools":[{"name":"f","input_schema":${schema}}],"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"call00001","name":"f","input":${args.replace(':', ' :\n')}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call00001","content":"x"}]}]}`,
    streamed: (text) =>
      frames(text)
        .map((frame) => textAt(frame, 'delta', 'partial_json'))
        .join(''),
  },
  google: {
    path: (model, stream) => `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: () =>
      `{"tools":[{"functionDeclarations":[{"name":"f","parameters":${schema}}]}],"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"id":"call00001","name":"f","args":${args}}}]},{"role":"user","parts":[{"functionResponse":{"id":"call00001","name":"f","response":{"output":"x"}}}]}]}`,
    streamed: (text) => (has(text) ? args : text),
  },
}

interface Served {
  readonly provider: string
  readonly model: string
  readonly whole: string
  readonly events?: readonly string[]
  readonly lines?: boolean
  /** The clients that are served in another format there. */
  readonly except?: readonly string[]
}
const [half, rest] = [args.slice(0, 30), args.slice(30)].map((text) => JSON.stringify(text))
const served: Readonly<Record<string, Served>> = {
  chat: {
    provider: 'groq',
    model: 'llama-3.3-70b-versatile',
    whole: `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":${quoted}}}]}}]}`,
    events: [
      `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":${half}}}]},"finish_reason":null}]}`,
      `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":${rest}}}]},"finish_reason":null}]}`,
      '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}',
      '[DONE]',
    ],
  },
  responses: {
    provider: 'openai',
    model: 'gpt-5-pro',
    whole: `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[{"id":"fc_1","type":"function_call","call_id":"c1","name":"f","arguments":${quoted},"status":"completed"}]}`,
  },
  anthropic: {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    whole: `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c1","name":"f","input":${args}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`,
    events: [
      '{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}',
      '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c1","name":"f","input":{}}}',
      `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":${half}}}`,
      `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":${rest}}}`,
      '{"type":"content_block_stop","index":0}',
      '{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":1}}',
      '{"type":"message_stop"}',
    ],
  },
  'anthropic on vertex': {
    provider: 'vertex',
    model: 'claude-sonnet-4-5@20250929',
    whole: `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c1","name":"f","input":${args}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`,
  },
  google: {
    provider: 'google',
    model: 'gemini-2.5-flash',
    whole: `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":${args}}}]},"finishReason":"STOP","index":0}]}`,
    events: [
      `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":${args}}}]},"finishReason":"STOP","index":0}]}`,
    ],
  },
  bedrock: {
    provider: 'bedrock',
    model: 'amazon.nova-pro-v1:0',
    whole: `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"f","input":${args}}}]}},"stopReason":"tool_use","usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2}}`,
  },
  'anthropic on bedrock': {
    provider: 'bedrock',
    model: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    except: ['chat', 'responses', 'google'],
    whole: `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c1","name":"f","input":${args}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`,
  },
  cohere: {
    provider: 'cohere',
    model: 'command-a-03-2025',
    whole: `{"id":"c","finish_reason":"TOOL_CALL","message":{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":${quoted}}}]}}`,
  },
  ollama: {
    provider: 'ollama',
    model: 'llama3.2',
    except: ['chat'],
    lines: true,
    whole: `{"model":"m","created_at":"2025-01-01T00:00:00Z","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":${args}}}]},"done":true,"done_reason":"stop"}`,
    events: [
      `{"model":"m","created_at":"2025-01-01T00:00:00Z","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":${args}}}]},"done":false}`,
      '{"model":"m","created_at":"2025-01-01T00:00:00Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}',
    ],
  },
}

const sse = (events: readonly string[], lines: boolean): Behaviour => ({
  status: 200,
  headers: { 'content-type': lines ? 'application/x-ndjson' : 'text/event-stream' },
  body: lines
    ? `${events.join('\n')}\n`
    : events
        .map(
          (data) =>
            `${/^\{"type":"(\w+)"/.exec(data)?.[1] === undefined ? '' : `event: ${/^\{"type":"(\w+)"/.exec(data)?.[1]}\n`}data: ${data}\n\n`,
        )
        .join(''),
})

async function ask(client: Client, { provider, model }: Served, stream: boolean): Promise<string> {
  const answer = await fetch(bed.origin + client.path(model, stream), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${workspaceKey}`, 'x-service-provider': `@${provider}` },
    body: client.body(model, stream),
  })
  return answer.text()
}

for (const [from, client] of Object.entries(clients))
  for (const [to, provider] of Object.entries(served)) {
    if (provider.except?.includes(from) === true) continue
    test.serial(`arguments in a conversation of ${from} reach ${to} as they are, and those of its answer the client`, async (t) => {
      cloud.script({ behaviour: { status: 200, headers: { 'content-type': 'application/json' }, body: provider.whole } })
      const text = await ask(client, provider, false)
      const sent = cloud.requests.at(-1)?.body.toString() ?? ''
      const plain = from === 'messages' && to === 'anthropic' ? sent.replace(' :\n', ':') : sent
      t.true(has(plain), `${sent}\n${text}`)
      t.true(has(text), text)
    })
    const { events, lines = false } = provider
    if (events === undefined) continue
    test.serial(`arguments in a stream of ${to} reach ${from} as they are`, async (t) => {
      cloud.script({ behaviour: sse(events, lines) })
      const text = await ask(client, provider, true)
      t.is(client.streamed(text), args, text)
    })
  }

test.serial('results of tools that are JSON go to Gemini and back as they are', async (t) => {
  const google = served['google'] as Served
  const chat = clients['chat'] as Client
  cloud.script({ behaviour: { status: 200, headers: { 'content-type': 'application/json' }, body: google.whole } })
  const body = chat.body(google.model, false).replace('"content":"x"', `"content":${quoted}`)
  await fetch(`${bed.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${workspaceKey}`, 'x-service-provider': '@google' },
    body,
  })
  const sent = cloud.requests.at(-1)?.body.toString() ?? ''
  t.true(sent.includes(`"response":${args}`), sent)
})
