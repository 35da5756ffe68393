import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Fields, isFields } from '../lib/json/fields.ts'
import { embedding, reply, tokensIn } from './answers.ts'

/** A provider that runs in this process and knows no model. It speaks the OpenAI format, so that Gatehouse translates every other one. */
export interface DemoEmulator {
  /** On the loopback interface, without a path. */
  readonly origin: string
  close(): void
}

/** The longest body that it reads. */
const mostBytes = 16 * 1024 * 1024
const mostInputs = 256
/** A stream has one word in so many milliseconds. */
const wordMs = 15

/** Starts the provider on a free port. */
export async function startEmulator(): Promise<DemoEmulator> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  server.unref()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { origin: `http://127.0.0.1:${port}`, close: () => void server.close() }
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyOf(request)
  if (body === null) return send(response, 400, failure('The demo provider reads a JSON object of at most 16 MiB.'))
  const status = wantedStatus(body['model'])
  if (status !== null) return send(response, status, failure(`The demo provider was asked to fail with ${status}.`))
  const path = request.url?.split('?')[0]
  if (path === '/v1/embeddings') {
    const inputs = Array.isArray(body['input']) ? body['input'] : [body['input']]
    if (inputs.length > mostInputs) return send(response, 400, failure(`The demo provider takes at most ${mostInputs} inputs.`))
    return send(response, 200, embeddings(body, inputs))
  }
  if (path !== '/v1/chat/completions') return send(response, 404, failure(`The demo provider has no ${path ?? ''}.`))
  return body['stream'] === true ? stream(response, body) : send(response, 200, completion(body))
}

async function bodyOf(request: IncomingMessage): Promise<Fields | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > mostBytes) return null
    chunks.push(chunk)
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString())
    return isFields(value) ? value : null
  } catch {
    return null
  }
}

/** Returns the status that a model such as `error-429` asks for: so retries, fallbacks and alerts can be tried out. */
function wantedStatus(model: unknown): number | null {
  const [, status] = /^error-([45]\d\d)$/.exec(String(model)) ?? []
  return status === undefined ? null : Number(status)
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

const failure = (message: string) => ({ error: { message, type: 'demo_error', code: null, param: null } })

const headOf = ({ model }: Fields, object: string) => ({
  id: `chatcmpl-demo-${Date.now().toString(36)}`,
  object,
  created: Math.floor(Date.now() / 1000),
  model,
})

function usageOf(body: Fields, text: string) {
  const [prompt, completed] = [tokensIn(JSON.stringify(body['messages'] ?? '')), tokensIn(text)]
  return { prompt_tokens: prompt, completion_tokens: completed, total_tokens: prompt + completed }
}

function completion(body: Fields) {
  const text = reply(body)
  const choice = { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }
  return { ...headOf(body, 'chat.completion'), choices: [choice], usage: usageOf(body, text) }
}

/** Sends the answer word by word, as a model would. */
async function stream(response: ServerResponse, body: Fields): Promise<void> {
  const head = headOf(body, 'chat.completion.chunk')
  const text = reply(body)
  const event = (more: object) => response.write(`data: ${JSON.stringify({ ...head, ...more })}\n\n`)
  const part = (delta: object, finish: string | null) => event({ choices: [{ index: 0, delta, finish_reason: finish }] })
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  part({ role: 'assistant', content: '' }, null)
  for (const word of text.split(/(?<=\s)/)) {
    if (response.destroyed) return
    part({ content: word }, null)
    await sleep(wordMs)
  }
  part({}, 'stop')
  event({ choices: [], usage: usageOf(body, text) })
  response.end('data: [DONE]\n\n')
}

function embeddings(body: Fields, inputs: readonly unknown[]) {
  const data = inputs.map((input, index) => ({ object: 'embedding', index, embedding: embedding(String(input)) }))
  const tokens = tokensIn(JSON.stringify(inputs))
  return { object: 'list', data, model: body['model'], usage: { prompt_tokens: tokens, total_tokens: tokens } }
}
