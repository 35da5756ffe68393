import type { LookupFunction, Socket } from 'node:net'
import { connect as connectTcp, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { callbackify } from 'node:util'
import type { buildConnector } from 'undici'
import type { BlockReason, Target } from './rules.ts'
import { checkAddress } from './rules.ts'
import type { Resolver } from './resolver.ts'
import type { Trust } from './trust.ts'

/** The guard's refusal at connect time, after the name was resolved. */
export class BlockedAddressError extends Error {
  readonly reason: BlockReason

  constructor(reason: BlockReason, detail: string) {
    super(`refused to connect: ${detail}`)
    this.reason = reason
  }
}

/** No connection within the time allowed, TLS included. */
export class ConnectTimeoutError extends Error {
  readonly timeoutMs: number

  constructor(timeoutMs: number) {
    super(`no connection within ${timeoutMs} ms`)
    this.timeoutMs = timeoutMs
  }
}

export interface ConnectOptions {
  readonly trust: Trust
  readonly resolver: Resolver
  readonly timeoutMs: number
  /** The only authorities that are believed, PEM; undefined: the usual ones. */
  readonly ca?: string | undefined
}

/** Opens a socket to the target and reports once. Destroy the returned socket to give up. */
export type Connect = (callback: buildConnector.Callback) => Socket

/** How long one address of several gets before the next is tried beside it. */
export const attemptMs = 500

/** The connector of one origin. The addresses that were checked are the ones handed to the socket, so no second lookup can differ. */
export function createConnect(target: Target, options: ConnectOptions): Connect {
  const lookup = vettedLookup(target, options)
  const host = target.hostname
  const common = {
    host,
    port: target.port,
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptMs,
    noDelay: true,
    keepAlive: true,
  }
  let session: Buffer | undefined

  function open(): Socket {
    if (!target.secure) return connectTcp(common)
    // HTTP/1.1 alone: answers pass through as the bytes they are, which HTTP/2 has no notion of.
    const socket = connectTls({
      ...common,
      servername: isIP(host) === 0 ? host : '',
      ALPNProtocols: ['http/1.1'],
      ...(options.ca !== undefined && { ca: options.ca }),
      ...(session && { session }),
    })
    return socket.on('session', (fresh) => void (session = fresh))
  }

  return (callback) => {
    const socket = open()
    const timer = setTimeout(() => socket.destroy(new ConnectTimeoutError(options.timeoutMs)), options.timeoutMs)
    const settle = (error: Error | null) => {
      clearTimeout(timer)
      socket.off('error', settle).off('close', onClose).off('connect', onConnect).off('secureConnect', onReady)
      if (error === null) return callback(null, socket)
      socket.on('error', () => {})
      options.resolver.forget(host)
      return callback(error, null)
    }
    const onClose = () => settle(new Error('closed while connecting'))
    const onReady = () => settle(null)
    const onConnect = () => {
      const reason = checkAddress(socket.remoteAddress ?? '', target, options.trust)
      if (reason !== null) socket.destroy(new BlockedAddressError(reason, `connected to ${socket.remoteAddress}`))
      else if (!target.secure) onReady()
    }
    socket.on('error', settle).on('close', onClose).on('connect', onConnect)
    if (target.secure) socket.on('secureConnect', onReady)
    return socket
  }
}

/** A lookup that hands on all addresses of a name, or none when a single one is refused. Never called for literal addresses. */
function vettedLookup(target: Target, { resolver, trust }: ConnectOptions): LookupFunction {
  async function lookUp(hostname: string) {
    const addresses = await resolver.resolve(hostname)
    const refusal = findRefusal(addresses, target, trust)
    if (refusal !== null) throw refusal
    return addresses.map((address) => ({ address, family: isIP(address) }))
  }
  // `all` is always asked for, because of autoSelectFamily.
  return (hostname, _, callback) => callbackify(lookUp)(hostname, (error, list) => (error ? callback(error, '') : callback(null, list)))
}

/** The first address that the guard refuses, as the error to fail with. */
export function findRefusal(addresses: readonly string[], target: Target, trust: Trust): BlockedAddressError | null {
  for (const address of addresses) {
    const reason = checkAddress(address, target, trust)
    if (reason !== null) return new BlockedAddressError(reason, `${target.hostname} resolves to ${address}`)
  }
  return null
}
