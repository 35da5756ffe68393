import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { ApiError, errorBody, type ErrorCode } from '../../../lib/errors.ts'
import { uuidv7 } from '../../../lib/uuid.ts'
import { eachHeader } from '../../../gateway/ports/headers.ts'

/** Why a request is refused before any handler sees it. */
export type Fault = readonly [code: ErrorCode, message: string]

interface Refusal {
  readonly status: number
  /** Flat. */
  readonly headers: readonly string[]
  readonly body: string
}

function toRefusal([code, message]: Fault): Refusal {
  const requestId = uuidv7()
  const error = new ApiError(code, message)
  const body = JSON.stringify(errorBody(error, requestId))
  const headers = ['content-type', 'application/json; charset=utf-8', 'content-length', String(Buffer.byteLength(body))]
  headers.push('x-request-id', requestId, 'request-id', requestId, 'x-should-retry', 'false')
  headers.push('x-content-type-options', 'nosniff', 'cache-control', 'no-store', 'connection', 'close')
  return { status: error.status, headers, body }
}

const statusText = (status: number): string => STATUS_CODES[status] ?? 'Error'

/** Answers a request in its turn, as the last one of its connection. */
export function answerOn(res: ServerResponse, fault: Fault): void {
  const { status, headers, body } = toRefusal(fault)
  res.shouldKeepAlive = false
  res.writeHead(status, statusText(status), [...headers])
  res.end(body)
}

/** Writes an answer where no request is, and ends the connection. Only when no other answer is under way. */
export function endWith(socket: Duplex, fault: Fault): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const { status, headers, body } = toRefusal(fault)
  const lines = [`HTTP/1.1 ${status} ${statusText(status)}`]
  eachHeader(headers, (name, value) => lines.push(`${name}: ${value}`))
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}
