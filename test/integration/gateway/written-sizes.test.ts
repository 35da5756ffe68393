// How much is written of what came: one part of a request, or of an answer, may have to stand in several places.
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { type GatewayBed, startGateway, workspaceKey } from '../../support/gateway.ts'

let bed: GatewayBed
let answer = { type: 'application/json', text: '{}' }
let received = 0
const provider = createServer((request, response) => {
  request.on('data', (chunk: Buffer) => (received += chunk.length))
  request.on('end', () => response.writeHead(200, { 'content-type': answer.type }).end(answer.text))
})
test.before(async () => {
  await once(provider.listen(0, '127.0.0.1'), 'listening')
  const { port } = provider.address() as AddressInfo
  const at = (name: string, key: string | null, fields = {}) => ({
    provider: name,
    customHost: `http://127.0.0.1:${port}`,
    credential: { key, fields },
  })
  const aws = { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_region: 'us-east-1' }
  bed = await startGateway({ providers: { google: at('google', 'k'), bedrock: at('bedrock', null, aws) } })
})
test.after.always(async () => {
  await bed?.stop()
  provider.close()
})

const ask = (name: string, path: string, body: object) =>
  fetch(bed.origin + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${workspaceKey}`, 'x-service-provider': `@${name}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const choices = (count: number) => Array.from({ length: count }, () => ({ type: 'string' }))
const references = (count: number) => Array.from({ length: count }, () => ({ $ref: '#/$defs/a' }))
const long = 'd'.repeat(100_000)
const growing: readonly (readonly [name: string, provider: string, model: string, parameters: object])[] = [
  ['a description beside choices', 'google', 'gemini-2.0-flash', { properties: { q: { description: long, anyOf: choices(1000) } } }],
  ['references', 'google', 'gemini-2.0-flash', { properties: { q: { anyOf: references(1000) } }, $defs: { a: { description: long } } }],
  [
    'references',
    'bedrock',
    'amazon.nova-pro-v1:0',
    { properties: { q: { anyOf: references(1000) } }, $defs: { a: { description: long } } },
  ],
]
for (const [name, at, model, parameters] of growing)
  test.serial(`a schema that would become very long is a 400 that names its tool: ${name}, for ${model}`, async (t) => {
    received = 0
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', ...parameters } } }]
    const refused = await ask(at, '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }], tools })
    t.is(refused.status, 400)
    t.like(await refused.json(), { error: { param: 'tools[0].parameters' } })
    t.is(received, 0)
  })

const supports = Array.from({ length: 1000 }, (_, at) => ({ segment: { startIndex: at, endIndex: at + 5 }, groundingChunkIndices: [0] }))
const grounded = JSON.stringify({
  candidates: [
    {
      index: 0,
      finishReason: 'STOP',
      content: { role: 'model', parts: [{ text: 'é'.repeat(1000) }] },
      groundingMetadata: { groundingChunks: [{ web: { uri: 'https://a.example', title: long } }], groundingSupports: supports },
    },
  ],
})
const clients = [
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }] }],
  ['/v1/responses', { input: 'hi' }],
  ['/v1/messages', { max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }],
] as const
for (const [path, body] of clients)
  for (const stream of [false, true])
    test.serial(
      `a long source that is named a thousand times makes an answer a few times longer: ${path}, ${stream ? 'stream' : 'whole'}`,
      async (t) => {
        answer = stream ? { type: 'text/event-stream', text: `data: ${grounded}\n\n` } : { type: 'application/json', text: grounded }
        const given = await ask('google', path, { model: 'gemini-2.5-flash', stream, ...body })
        t.is(given.status, 200)
        const text = await given.text()
        t.true(text.includes(long))
        t.true(text.length < 8_000_000, String(text.length))
      },
    )
