import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { Answer } from './answer.ts'
import type { Behaviour } from './behaviour.ts'
import { oddStreams, type OddStream } from './odd-streams.ts'

const block = Buffer.alloc(64 * 1024, 'x')
const namedBodies = {
  echo: null,
  html: Buffer.from('<!doctype html><html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>\n'),
  'invalid-utf8': Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0xfe, 0xc3, 0x28, 0x22, 0x7d]),
  empty: Buffer.alloc(0),
  'truncated-json': Buffer.from('{"id":"chatcmpl-emulated","choices":[{"index":0,"message":{"role":"assi'),
  'deep-json': Buffer.from('['.repeat(100_000) + ']'.repeat(100_000)),
} as const

const compressors = {
  gzip: (bytes: Buffer) => gzipSync(bytes),
  br: (bytes: Buffer) => brotliCompressSync(bytes),
  deflate: (bytes: Buffer) => deflateSync(bytes),
  lie: (bytes: Buffer) => bytes,
} as const

/** The answer with the behaviour's changes in its content: status, headers, body, encoding. */
export function alter(answer: Answer, behaviour: Behaviour): Answer {
  const odd = behaviour.stream === undefined ? null : oddStreams[behaviour.stream]
  if (odd === undefined) throw new Error(`unknown behaviour ${behaviour.stream}`)
  const stream = odd === null ? answer.stream && behaviour.answer === undefined : true
  const pieces = odd ?? replacement(behaviour) ?? answer.pieces
  const encoded = behaviour.encoding === undefined ? pieces : [compressors[behaviour.encoding](Buffer.concat(pieces))]
  return {
    status: behaviour.status ?? answer.status,
    headers: {
      ...answer.headers,
      ...typeHeaders(behaviour),
      ...encodingHeaders(behaviour),
      ...hugeHeaders(behaviour),
      ...behaviour.headers,
    },
    pieces: encoded,
    stream,
  }
}

function replacement(behaviour: Behaviour): readonly Buffer[] | null {
  if (behaviour.body !== undefined) return [Buffer.from(behaviour.body)]
  if (behaviour.bodyBase64 !== undefined) return [Buffer.from(behaviour.bodyBase64, 'base64')]
  if (behaviour.size !== undefined) return blocks(behaviour.size)
  const named = behaviour.answer === undefined ? null : namedBodies[behaviour.answer]
  return named === null ? null : [named]
}

const blocks = (size: number): readonly Buffer[] =>
  Array.from({ length: Math.ceil(size / block.length) }, (_, index) =>
    block.subarray(0, Math.min(block.length, size - index * block.length)),
  )

const typeHeaders = ({ answer, stream }: Behaviour): Record<string, string> => {
  if (stream !== undefined) return { 'content-type': 'text/event-stream' }
  return answer === 'html' ? { 'content-type': 'text/html' } : {}
}

const encodingHeaders = ({ encoding }: Behaviour): Record<string, string> =>
  encoding === undefined ? {} : { 'content-encoding': encoding === 'lie' ? 'gzip' : encoding }

const hugeHeaders = ({ hugeHeaders: bytes }: Behaviour): Record<string, string> =>
  bytes === undefined
    ? {}
    : Object.fromEntries(Array.from({ length: Math.ceil(bytes / 8000) }, (_, index) => [`x-huge-${index}`, 'h'.repeat(7980)]))

/** Sends an answer by the behaviour. Ends when all is sent or the client is gone; `sent` gets the body's bytes as they are sent. */
export async function deliver(
  response: ServerResponse,
  answer: Answer,
  { behaviour, sent }: { behaviour: Behaviour; sent: (bytes: number) => void },
): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  try {
    if (behaviour.delayMs !== undefined) await pause(behaviour.delayMs, undefined, { signal: gone.signal })
    if (behaviour.raw !== undefined) return void response.socket?.end(behaviour.raw, 'latin1')
    if (behaviour.hang === 'before-headers') return
    for (const status of behaviour.informational ?? [])
      response.socket?.write(`HTTP/1.1 ${status} Informational\r\nlink: </style.css>; rel=preload\r\n\r\n`)
    sendHead(response, answer, behaviour)
    if (behaviour.hang === 'after-headers') response.flushHeaders()
    else await sendBody(response, answer, { behaviour, sent, signal: gone.signal })
  } catch (error) {
    if (!gone.signal.aborted) throw error
  }
}

function sendHead(response: ServerResponse, answer: Answer, behaviour: Behaviour): void {
  const headers: Record<string, string | readonly string[]> = { ...answer.headers }
  const bodyless = answer.status === 204 || answer.status === 304
  const counted = !answer.stream && behaviour.endless !== true && behaviour.chunked !== true && behaviour.trailers === undefined
  if (counted && !bodyless) {
    const length = answer.pieces.reduce((total, piece) => total + piece.length, 0)
    headers['content-length'] = String(length + (behaviour.lengthError ?? 0))
  }
  if (behaviour.trailers !== undefined) headers['trailer'] = Object.keys(behaviour.trailers).join(', ')
  if (behaviour.close === true) headers['connection'] = 'close'
  if (behaviour.statusMessage === undefined) response.writeHead(answer.status, headers as Record<string, string | string[]>)
  else response.writeHead(answer.status, behaviour.statusMessage, headers as Record<string, string | string[]>)
}

interface Sending {
  readonly behaviour: Behaviour
  readonly sent: (bytes: number) => void
  readonly signal: AbortSignal
}

async function sendBody(response: ServerResponse, answer: Answer, sending: Sending): Promise<void> {
  const { behaviour } = sending
  if (behaviour.endless === true) return sendForever(response, sending)
  const stopAt = behaviour.cutAt ?? (behaviour.hang === 'mid-body' ? (behaviour.hangAt ?? 0) : Infinity)
  let total = 0
  let first = true
  for (const piece of dripped(answer.pieces, behaviour)) {
    if (!first) await waitBetween(sending)
    first = false
    const rest = piece.subarray(0, stopAt - total)
    total += rest.length
    await write(response, rest, sending)
    if (total >= stopAt) break
  }
  if (stopAt !== Infinity) return behaviour.cutAt === undefined ? undefined : cut(response, behaviour)
  if (behaviour.trailers !== undefined) response.addTrailers(behaviour.trailers)
  response.end()
  if (behaviour.lengthError !== undefined) response.socket?.end()
}

const dripped = (pieces: readonly Buffer[], { drip }: Behaviour): readonly Buffer[] =>
  drip === undefined
    ? pieces
    : pieces.flatMap((piece) =>
        Array.from({ length: Math.ceil(piece.length / drip.bytes) }, (_, index) =>
          piece.subarray(index * drip.bytes, (index + 1) * drip.bytes),
        ),
      )

async function waitBetween({ behaviour, signal }: Sending): Promise<void> {
  const everyMs =
    behaviour.drip?.everyMs ?? behaviour.frameEveryMs ?? (behaviour.stream === undefined ? undefined : oddPauseMs(behaviour.stream))
  if (everyMs === undefined) return
  if (everyMs > 0) await pause(everyMs, undefined, { signal })
  else await turn()
}

/** Long enough that a reader sees the writes apart; where there are many, a turn of the event loop must do. */
const oddPauseMs = (stream: OddStream): number => (oddStreams[stream].length < 20 ? 5 : 0)

async function write(response: ServerResponse, bytes: Buffer, { sent, signal }: Sending): Promise<void> {
  if (bytes.length === 0) return
  signal.throwIfAborted()
  const flowing = response.write(bytes)
  sent(bytes.length)
  if (!flowing) await once(response, 'drain', { signal })
}

async function sendForever(response: ServerResponse, sending: Sending): Promise<void> {
  for (;;) {
    await write(response, block, sending)
    await waitBetween(sending)
    if (sending.behaviour.frameEveryMs === undefined) await turn()
  }
}

/** Lets written bytes go out first: the reader must see the cut exactly there. */
function cut(response: ServerResponse, behaviour: Behaviour): void {
  const { socket } = response
  if (socket === null) return
  const end = () => (behaviour.cutWith === 'reset' ? socket.resetAndDestroy() : socket.destroy())
  socket.write('', () => void pause(5).then(end))
}
