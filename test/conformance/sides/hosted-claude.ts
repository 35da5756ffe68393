import { BedrockRuntimeClient, InvokeModelCommand, InvokeModelWithResponseStreamCommand } from '@aws-sdk/client-bedrock-runtime'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import Anthropic from '@anthropic-ai/sdk'
import { MessageStream } from '@anthropic-ai/sdk/lib/MessageStream'
import type { Message } from '@anthropic-ai/sdk/resources/messages'
import { eventStreamMessage } from '../../../src/gateway/wire/event-stream.ts'
import type { Behaviour } from '../../support/emulator/behaviour.ts'
import type { Received } from '../../support/emulator/emulator.ts'
import type { Address, ProviderSide, Talker } from '../talk.ts'
import { type Asking, messagesProvider, talkerBy, toParams } from './anthropic.ts'

/** How a cloud serves Anthropic's format: the path names the model, and the body the version of the API. */
interface Hosting {
  readonly version: string
  readonly path: RegExp
  readonly streamPath: RegExp
  /** Fields that the body may not hold. */
  readonly absent: readonly string[]
}

const bedrock: Hosting = {
  version: 'bedrock-2023-05-31',
  path: /^\/model\/[^/]+\/invoke$/,
  streamPath: /^\/model\/[^/]+\/invoke-with-response-stream$/,
  absent: ['model', 'stream'],
}

const place = String.raw`^\/v1\/projects\/[^/]+\/locations\/[^/]+\/publishers\/anthropic\/models\/[^/:]+`
const vertex: Hosting = {
  version: 'vertex-2023-10-16',
  path: new RegExp(`${place}:rawPredict$`),
  streamPath: new RegExp(`${place}:streamRawPredict$`),
  absent: ['model'],
}

/** The request as Anthropic itself would get it. */
function plain({ version }: Hosting, received: Received): Received {
  const { anthropic_version: said, anthropic_beta: _betas, ...body } = received.json
  if (said !== version) throw new Error(`anthropic_version: must be ${version}`)
  return { ...received, url: '/v1/messages', json: { ...body, model: 'claude-sonnet-4-5' } }
}

/** Fields that Anthropic's own API alone takes. */
const ownOfAnthropic = ['eager_input_streaming', 'allowed_callers', 'mcp_servers', 'container', 'speed', 'inference_geo', 'task_budget']

function refusalOf(hosting: Hosting, received: Received): string | null {
  const [path = ''] = received.url.split('?')
  const wanted = hosting.streamPath.test(path) ? hosting.streamPath : hosting.path
  if (!wanted.test(path)) return `no ${received.url}`
  const extra = hosting.absent.find((name) => name in received.json)
  if (extra !== undefined) return `${extra}: Extra inputs are not permitted`
  const text = JSON.stringify(received.json)
  if (/"text":"x-anthropic-billing-header|"system":"x-anthropic-billing-header/.test(text))
    return 'x-anthropic-billing-header is a reserved keyword'
  const unknown =
    ownOfAnthropic.find((name) => text.includes(`"${name}":`)) ?? ('cache_control' in received.json ? 'cache_control' : undefined)
  if (unknown !== undefined) return `${unknown}: Extra inputs are not permitted`
  if (received.json['anthropic_version'] !== hosting.version) return `anthropic_version: must be ${hosting.version}`
  return messagesProvider.refusal(plain(hosting, received))
}

const isStream =
  ({ streamPath }: Hosting) =>
  ({ url }: Received): boolean =>
    streamPath.test(url.split('?')[0] ?? '')

const chunk = (event: string): Buffer =>
  eventStreamMessage(
    { ':message-type': 'event', ':event-type': 'chunk', ':content-type': 'application/json' },
    JSON.stringify({ bytes: Buffer.from(event).toString('base64'), p: 'abc' }),
  )

/** Puts the events of a stream into AWS's binary frames. */
const framed = ({ body = '' }: Behaviour): Behaviour => ({
  status: 200,
  headers: { 'content-type': 'application/vnd.amazon.eventstream' },
  bodyBase64: Buffer.concat([...body.matchAll(/^data: (.*)$/gm)].map(([, event = '']) => chunk(event))).toString('base64'),
})

/** Claude on Bedrock by InvokeModel. */
export const bedrockClaude: ProviderSide = {
  ...messagesProvider,
  isStream: isStream(bedrock),
  refusal: (received) => refusalOf(bedrock, received),
  heard: (received) => messagesProvider.heard(plain(bedrock, received)),
  stream: (say, received) => framed(messagesProvider.stream(say, received)),
  error: (_, message) => ({ message }),
}

/** Claude on Vertex AI. */
export const vertexClaude: ProviderSide = {
  ...messagesProvider,
  isStream: isStream(vertex),
  refusal: (received) => refusalOf(vertex, received),
  heard: (received) => messagesProvider.heard(plain(vertex, received)),
}

/** Claude on Azure, at a path of its own. */
export const azureClaude: ProviderSide = {
  ...messagesProvider,
  refusal: (received) =>
    /^\/anthropic\/v1\/messages(?:\?|$)/.test(received.url) ? messagesProvider.refusal(received) : `no ${received.url}`,
}

const inputOf = ({ model: modelId, ...body }: Asking) => ({
  modelId,
  contentType: 'application/json',
  body: JSON.stringify({ anthropic_version: bedrock.version, ...body }),
})

/** The client of AWS, which proves the emulator of Bedrock. */
export function invokeTalker({ origin, model }: Address): Talker {
  const client = new BedrockRuntimeClient({
    endpoint: origin,
    region: 'us-east-1',
    maxAttempts: 1,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    requestHandler: new NodeHttpHandler(),
  })
  const streamed = async (params: Asking): Promise<Message> => {
    const { body } = await client.send(new InvokeModelWithResponseStreamCommand(inputOf(params)))
    const lines = new ReadableStream<Uint8Array>({
      async start(controller) {
        for await (const event of body ?? [])
          if (event.chunk?.bytes) controller.enqueue(Buffer.concat([event.chunk.bytes, Buffer.from('\n')]))
        controller.close()
      },
    })
    return MessageStream.fromReadableStream(lines).finalMessage()
  }
  const whole = async (params: Asking): Promise<Message> => {
    const { body } = await client.send(new InvokeModelCommand(inputOf(params)))
    return JSON.parse(Buffer.from(body).toString('utf8')) as Message
  }
  return { talk: (ask, stream) => talkerBy((params) => (stream ? streamed(params) : whole(params)))(toParams(ask, model)) }
}

/** Anthropic's own client with the address and the version of Vertex AI, as its package for that cloud has them. */
export function vertexTalker({ origin, key, model }: Address): Talker {
  const client = new Anthropic({
    baseURL: origin,
    apiKey: key,
    maxRetries: 0,
    fetch: (_, init) => {
      const sent = typeof init?.body === 'string' ? init.body : ''
      const { model: named, ...body } = JSON.parse(sent) as Omit<Asking, 'stream'> & { stream?: boolean }
      const method = body.stream === true ? 'streamRawPredict' : 'rawPredict'
      const url = `${origin}/v1/projects/project/locations/europe-west1/publishers/anthropic/models/${named}:${method}`
      return fetch(url, { ...init, body: JSON.stringify({ anthropic_version: vertex.version, ...body }) })
    },
  })
  const send = (stream: boolean) =>
    talkerBy((params) => (stream ? client.messages.stream(params).finalMessage() : client.messages.create(params)))
  return { talk: (ask, stream) => send(stream)(toParams(ask, model)) }
}
