import { once } from 'node:events'
import type { LookupFunction, Socket } from 'node:net'
import { connect as connectTcp, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { callbackify } from 'node:util'
import { attemptMs, ConnectTimeoutError, type Connect, type ConnectOptions, findRefusal } from './connect.ts'
import { ProxyError, refusalOf, type Proxy } from './proxies.ts'
import type { Target } from './rules.ts'

/**
 * True if the proxy opens a tunnel (CONNECT) for this target; false if it gets the request with the whole URL. Proxies take CONNECT for TLS, and many
 * for nothing else. In the clear a name that resolves elsewhere at the proxy would matter, which TLS with its certificate notices: such a name must
 * be trusted itself, otherwise the tunnel goes to the address that was judged.
 */
export const tunnels = (target: Target, { names }: Proxy): boolean =>
  target.secure || names === 'pinned' || (names === 'checked' && !target.trustedName && target.address === null)

/** The connector of one origin that is reached by a proxy. */
export function createProxyConnect(target: Target, proxy: Proxy, options: ConnectOptions): Connect {
  let session: Buffer | undefined
  const secure = (transport: Socket) => {
    const socket = connectTls({
      socket: transport,
      servername: isIP(target.hostname) === 0 ? target.hostname : '',
      host: target.hostname,
      ALPNProtocols: ['http/1.1'],
      ...(options.ca !== undefined && { ca: options.ca }),
      ...(session && { session }),
    })
    return socket.on('session', (fresh) => void (session = fresh)).on('error', () => {})
  }

  async function open(transport: Socket, broken: Promise<never>): Promise<Socket> {
    const authority = destination(target, proxy, options)
    authority.catch(() => {})
    await Promise.race([once(transport, readyOf(proxy)), broken])
    const named = await Promise.race([authority, broken])
    if (!tunnels(target, proxy)) return transport
    await Promise.race([askForTunnel(transport, named, proxy), broken])
    if (!target.secure) return transport
    const socket = secure(transport)
    await Promise.race([once(socket, 'secureConnect'), broken])
    return socket
  }

  return (callback) => {
    const transport = reachProxy(proxy, options)
    const timer = setTimeout(() => transport.destroy(new ConnectTimeoutError(options.timeoutMs)), options.timeoutMs)
    const broken = Promise.withResolvers<never>()
    broken.promise.catch(() => {})
    let told = 'could not be reached'
    transport.on(readyOf(proxy), () => (told = 'broke the connection'))
    transport.on('error', (error) => broken.reject(error instanceof ConnectTimeoutError ? error : new ProxyError(proxy, told, error)))
    transport.on('close', () => broken.reject(new ProxyError(proxy, 'closed the connection')))
    callbackify(open)(transport, broken.promise, (error, socket) => {
      clearTimeout(timer)
      if (error === null) return callback(null, socket)
      transport.destroy()
      options.resolver.forget(target.hostname)
      return callback(error, null)
    })
    return transport
  }
}

/** Opens the connection to the proxy, whose host the operator named: no guard judges it. */
function reachProxy(proxy: Proxy, { resolver }: ConnectOptions): Socket {
  const resolve = async (hostname: string) => (await resolver.resolve(hostname)).map((address) => ({ address, family: isIP(address) }))
  // `all` is always asked for, because of autoSelectFamily.
  const lookup: LookupFunction = (hostname, _, callback) =>
    callbackify(resolve)(hostname, (error, list) => (error ? callback(error, '') : callback(null, list)))
  const common = {
    host: proxy.hostname,
    port: proxy.port,
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptMs,
    noDelay: true,
    keepAlive: true,
  }
  return proxy.secure
    ? connectTls({ ...common, servername: isIP(proxy.hostname) === 0 ? proxy.hostname : '', ALPNProtocols: ['http/1.1'] })
    : connectTcp(common)
}

/** The event of a connection that can be used. */
const readyOf = ({ secure }: Proxy): 'connect' | 'secureConnect' => (secure ? 'secureConnect' : 'connect')

/** The destination for the proxy, once the guard has judged it. */
async function destination(target: Target, proxy: Proxy, { resolver, trust }: ConnectOptions): Promise<string> {
  const { hostname, port, address } = target
  if (address !== null || proxy.names === 'unchecked') return `${bracketed(hostname)}:${port}`
  const addresses = await resolver.resolve(hostname)
  const refusal = findRefusal(addresses, target, trust)
  if (refusal !== null) throw refusal
  const isPinned = proxy.names === 'pinned' || !target.secure
  return `${bracketed(isPinned ? (addresses[0] ?? hostname) : hostname)}:${port}`
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host)

const mostHeadBytes = 16 * 1024

async function askForTunnel(transport: Socket, authority: string, proxy: Proxy): Promise<void> {
  const credentials = proxy.authorization === null ? '' : `Proxy-Authorization: ${proxy.authorization}\r\n`
  transport.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${credentials}\r\n`)
  const head = await readHead(transport, proxy)
  const [, status = ''] = /^HTTP\/1\.[01] (\d{3})(?: |\r)/.exec(head) ?? []
  if (status === '') throw new ProxyError(proxy, 'answered CONNECT with something that is not HTTP')
  if (!status.startsWith('2')) throw refusalOf(proxy, Number(status))
}

/** Reads the head of the answer to CONNECT. A server behind the tunnel waits for us, so that no byte may follow. */
function readHead(transport: Socket, proxy: Proxy): Promise<string> {
  return new Promise((resolve, reject) => {
    let head = ''
    const stop = () => void transport.off('data', onData).off('end', onEnd).pause()
    const refuse = (told: string) => {
      stop()
      reject(new ProxyError(proxy, told))
    }
    const onEnd = () => refuse('closed the connection without an answer')
    const onData = (chunk: Buffer) => {
      // The end may lie across two chunks, and no byte is looked at again but the last three.
      const from = Math.max(0, head.length - 3)
      head += chunk.toString('latin1')
      const end = head.indexOf('\r\n\r\n', from)
      if (end === -1) return head.length > mostHeadBytes ? refuse('answered CONNECT with too many headers') : undefined
      const isOpen = /^HTTP\/1\.[01] 2/.test(head)
      if (isOpen && end + 4 !== head.length) return refuse('sent more than its answer to CONNECT')
      stop()
      return resolve(head.slice(0, end + 2))
    }
    transport.on('data', onData).on('end', onEnd)
  })
}
