import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerOptions, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Upgrade } from '../../../gateway/ports/egress.ts'
import { refusingAnswer } from '../../../gateway/exchange/upgrade-exchange.ts'
import { answerOn, type Fault } from './refusal.ts'
import { watchStalls } from './stalls.ts'
import { createTlsServer, type TlsOptions } from './tls-server.ts'
import { createTurns, type Turns } from './turns.ts'
import { countHeaders, headerValues } from '../../../gateway/ports/headers.ts'

const maxHeaderBytes = 64 * 1024
/** Far above the number that any client sends, far below one that would take a noticeable time to sort. */
const maxHeaders = 256

/** The owner of requests for a WebSocket. */
export interface Upgrades {
  /** Returns true if there are WebSockets at the path of a request. */
  takes(req: IncomingMessage): boolean
  take(upgrade: Upgrade, res: ServerResponse): void
}

interface ServerParts {
  /** Null: it speaks HTTP without TLS. */
  readonly tls?: TlsOptions | null
  /** Null: there are no WebSockets. */
  readonly upgrades?: Upgrades | null
}

/**
 * The one HTTP server. Node's strict parser refuses smuggling; slow heads are cut off by `headersTimeout`, slow bodies and slow
 * readers by `watchStalls`, since an upload or a stream may take as long as it moves. With `tls` it speaks HTTPS only.
 */
export function createHttpServer(handle: RequestListener, { tls = null, upgrades = null }: ServerParts = {}): Server {
  const turns = createTurns()
  /** Requests for a WebSocket where there is none. */
  const refused = new WeakSet<IncomingMessage>()
  const options: ServerOptions = {
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
    // Java's client offers h2c with every request; an offer may be ignored (RFC 9110 section 7.8).
    shouldUpgradeCallback(req) {
      if (req.headers.upgrade?.toLowerCase() !== 'websocket') return false
      const taken = upgrades?.takes(req) === true && isAlone(req)
      if (!taken) refused.add(req)
      return taken
    },
  }
  const listener: RequestListener = (req, res) => {
    if (!turns.take(req, res)) return
    const fault = refused.has(req) ? noUpgrades : faultOf(req)
    if (fault !== null) answerOn(res, fault)
    else {
      req.url = originForm(req.url ?? '/')
      handle(req, res)
    }
  }
  const server: Server = tls === null ? createServer(options, listener) : createTlsServer({ ...options, ...tls }, listener)
  // Node's own limit drops the headers beyond it without a word.
  server.maxHeadersCount = 0
  server.on('clientError', (error, socket) => refuseUnread(turns, error, socket))
  server.on('connect', (_req, socket) => {
    takeOver(socket)
    turns.refuse(socket, ['method_not_allowed', 'This is no proxy: CONNECT is not supported.'])
  })
  server.on('checkExpectation', (req, res) => {
    if (turns.take(req, res)) answerOn(res, ['invalid_request', 'The only expectation that is met is 100-continue.'])
  })
  server.on('upgrade', (req, socket, head) => {
    takeOver(socket)
    const upgrade = { req, socket, head }
    const res = refusingAnswer(upgrade)
    const fault = faultOf(req)
    if (!turns.take(req, res)) socket.destroy()
    else if (fault !== null) answerOn(res, fault)
    else {
      req.url = originForm(req.url ?? '/')
      upgrades?.take(upgrade, res)
    }
  })
  watchStalls(server)
  return server
}

const noUpgrades: Fault = ['unsupported_operation', 'Protocol upgrades are not supported here.']

/** Returns true for a request without a body that follows no unanswered one: then the socket is free for frames. */
const isAlone = ({ method, headers, socket }: IncomingMessage): boolean =>
  method === 'GET' &&
  headers['content-length'] === undefined &&
  headers['transfer-encoding'] === undefined &&
  currentAnswer(socket) === null

/** Returns the answer that is under way on a socket. */
function currentAnswer(socket: Duplex): ServerResponse | null {
  const current: unknown = Reflect.get(socket, '_httpMessage')
  return current instanceof ServerResponse ? current : null
}

/** Returns the fault of a request that Node's parser accepts and we refuse. */
function faultOf({ rawHeaders, httpVersionMinor, url = '' }: IncomingMessage): Fault | null {
  if (rawHeaders.length > maxHeaders * 2) return ['headers_too_large', `More than ${maxHeaders} header lines came.`]
  // A fragment is the client's own; a server that cuts it off would see another path than we do.
  if (url.includes('#')) return ['invalid_request', 'A request target holds no "#". Send it as %23.']
  return hostFault(countHeaders(rawHeaders, 'host'), httpVersionMinor) ?? codingFault(headerValues(rawHeaders, 'transfer-encoding'))
}

/** Two hops that pick different ones would disagree about where a request goes; Node takes the first without a word. */
function hostFault(hosts: number, httpVersionMinor: number): Fault | null {
  if (hosts > 1) return ['invalid_request', 'More than one Host header came.']
  return hosts === 0 && httpVersionMinor > 0 ? ['invalid_request', 'The Host header is missing.'] : null
}

/** For `gzip, chunked` Node takes the chunks off, and would hand on compressed bytes as if they were not (RFC 9112 section 6.1). */
function codingFault(values: readonly string[]): Fault | null {
  if (values.length === 0) return null
  const codings = values.join(', ')
  if (/^chunked$/i.test(codings)) return null
  return /, *chunked$/i.test(codings)
    ? ['not_implemented', 'The only transfer-encoding that is understood is chunked.']
    : ['invalid_request', 'The transfer-encoding of a request must end with chunked.']
}

/** A server takes `GET http://host/path` as `GET /path` (RFC 9112 section 3.2.2). */
const originForm = (url: string): string => (/^https?:\/\//i.test(url) ? url.replace(/^https?:\/\/[^/?#]*/i, '') || '/' : url)

/** Answers in our own shape if the parser refuses bytes, which never become a request. A broken socket gets no answer. */
function refuseUnread(turns: Turns, { code = '' }: NodeJS.ErrnoException, socket: Duplex): void {
  if (code.startsWith('HPE_') || code === 'ERR_HTTP_REQUEST_TIMEOUT')
    turns.refuse(socket, faults[code] ?? ['invalid_request', 'This is not a well-formed HTTP/1.1 request.'])
  else socket.destroy()
}

/** Node lets go of a socket on which CONNECT came, or an upgrade: it handles neither its errors, nor its drain for answers that are under way. */
function takeOver(socket: Duplex): void {
  socket.on('error', () => socket.destroy())
  socket.on('drain', () => {
    currentAnswer(socket)?.emit('drain')
  })
}

const faults: Readonly<Record<string, Fault>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', `The request line and the headers are larger than ${maxHeaderBytes} bytes.`],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['payload_too_large', 'The chunk extensions of the body are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time.'],
}
