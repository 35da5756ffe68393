import { randomUUIDv7 } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { ApiError, errorBody, type ErrorCode } from '../../lib/errors.ts'
import { watchStalls } from './stalls.ts'

const maxHeaderBytes = 64 * 1024
/** Far above what any client sends, far below what would take a noticeable time to sort. */
const maxHeaders = 256

/**
 * The one HTTP server. Node's strict parser refuses smuggling; slow heads are cut off by `headersTimeout`, slow bodies and slow
 * readers by `watchStalls`, since an upload or a stream may take as long as it moves.
 */
export function createHttpServer(handle: RequestListener): Server {
  const server = createServer(
    {
      headersTimeout: 15_000,
      requestTimeout: 0,
      // Longer than the idle timeout of usual load balancers, which would otherwise meet a socket that we are closing.
      keepAliveTimeout: 72_000,
      connectionsCheckingInterval: 5_000,
      maxHeaderSize: maxHeaderBytes,
      insecureHTTPParser: false,
      // Refused by us instead, with a body and an id.
      requireHostHeader: false,
      noDelay: true,
      // Java's client offers h2c with every request; what is offered may be passed over (RFC 9110 section 7.8).
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
    },
    (req, res) => {
      const fault = faultOf(req)
      if (fault !== null) answerRaw(req.socket, ...fault)
      else {
        req.url = originForm(req.url ?? '/')
        handle(req, res)
      }
    },
  )
  // Node's own limit drops the headers beyond it without a word.
  server.maxHeadersCount = 0
  server.on('clientError', (error, socket) => refuseConnection(error, socket))
  server.on('upgrade', (_req, socket) => answerRaw(socket, 'unsupported_operation', 'Protocol upgrades are not supported.'))
  server.on('connect', (_req, socket) => answerRaw(socket, 'method_not_allowed', 'This is no proxy: CONNECT is not supported.'))
  server.on('checkExpectation', ({ socket }) => answerRaw(socket, 'invalid_request', 'The only expectation that is met is 100-continue.'))
  watchStalls(server)
  return server
}

type Fault = readonly [code: ErrorCode, message: string]

/** What Node's parser lets through and we do not. */
function faultOf({ rawHeaders, httpVersionMinor, url = '' }: IncomingMessage): Fault | null {
  if (rawHeaders.length > maxHeaders * 2) return ['headers_too_large', `More than ${maxHeaders} header lines came.`]
  const hosts = countHosts(rawHeaders)
  // Two hops that pick different ones would disagree about where a request goes; Node takes the first without a word.
  if (hosts > 1) return ['invalid_request', 'More than one Host header came.']
  if (hosts === 0 && httpVersionMinor > 0) return ['invalid_request', 'The Host header is missing.']
  // A fragment is the client's own; a server that cuts it off would see another path than we do.
  if (url.includes('#')) return ['invalid_request', 'A request target holds no "#". Send it as %23.']
  return codingFault(rawHeaders)
}

/** Of `gzip, chunked` Node takes the chunks off, and would hand on what is still compressed as if it were not (RFC 9112 section 6.1). */
function codingFault(rawHeaders: readonly string[]): Fault | null {
  let codings = ''
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === 17 && rawHeaders[at]?.toLowerCase() === 'transfer-encoding') codings += `, ${rawHeaders[at + 1]}`
  if (codings === '' || codings === ', chunked' || /^, chunked$/i.test(codings)) return null
  return /, *chunked$/i.test(codings)
    ? ['not_implemented', 'The only transfer-encoding that is understood is chunked.']
    : ['invalid_request', 'The transfer-encoding of a request must end with chunked.']
}

function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') hosts++
  return hosts
}

/** A server takes `GET http://host/path` as `GET /path` (RFC 9112 section 3.2.2). */
const originForm = (url: string): string => (/^https?:\/\//i.test(url) ? url.replace(/^https?:\/\/[^/?#]*/i, '') || '/' : url)

/** What the parser refuses never becomes a request; it gets an answer in our own shape all the same. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Duplex): void {
  const fault = faults[error.code ?? ''] ?? { code: 'invalid_request', message: 'This is not a well-formed HTTP/1.1 request.' }
  if (error.code === 'ECONNRESET' || answering(socket)) socket.destroy()
  else answerRaw(socket, fault.code, fault.message)
}

const faults: Readonly<Record<string, { readonly code: ErrorCode; readonly message: string }>> = {
  HPE_HEADER_OVERFLOW: { code: 'headers_too_large', message: `The request line and the headers are larger than ${maxHeaderBytes} bytes.` },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { code: 'payload_too_large', message: 'The chunk extensions of the body are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request_timeout', message: 'The request did not arrive in time.' },
}

/** Whether a part of an answer is on its way, so that a second one would be read as its continuation. */
function answering(socket: Duplex): boolean {
  const current: unknown = Reflect.get(socket, '_httpMessage')
  return typeof current === 'object' && current !== null && Reflect.get(current, 'headersSent') === true
}

/** Writes an answer without a request object, and ends the connection. */
function answerRaw(socket: Duplex, code: ErrorCode, message: string): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const requestId = randomUUIDv7()
  const error = new ApiError(code, message)
  const body = JSON.stringify(errorBody(error, requestId))
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? 'Error'}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    `request-id: ${requestId}`,
    'x-should-retry: false',
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}
