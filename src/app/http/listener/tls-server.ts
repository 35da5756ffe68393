import type { RequestListener, Server, ServerOptions } from 'node:http'
import { createServer } from 'node:https'
import { Server as TlsServer, TLSSocket, type TlsOptions } from 'node:tls'

export type { TlsOptions, TlsServer }

/** A server that speaks HTTPS only. It opens no connection of its own. */
export const createTlsServer = (options: ServerOptions & TlsOptions, listener: RequestListener): Server => createServer(options, listener)

export const isTlsServer = (server: Server): server is Server & TlsServer => server instanceof TlsServer

/** Returns true if a request came by TLS to this process itself. */
export const isTlsSocket = (socket: unknown): boolean => socket instanceof TLSSocket
