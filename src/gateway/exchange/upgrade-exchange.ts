import { ServerResponse } from 'node:http'
import type { Upgrade } from '../egress/web-socket.ts'
import { headerValue } from '../wire/header-list.ts'
import { type Edge, NodeExchange } from './node-exchange.ts'

/** The exchange of a request for a WebSocket: it is refused as any other over HTTP, or its socket is taken over. */
export class UpgradeExchange extends NodeExchange {
  readonly #upgrade: Upgrade
  readonly #res: ServerResponse
  readonly #headers: readonly string[]

  /** `res`: the answer on the socket of the request, when it is refused. */
  constructor(upgrade: Upgrade, res: ServerResponse, edge: Edge) {
    super(upgrade.req, res, edge)
    this.#upgrade = upgrade
    this.#res = res
    this.#headers = withOfferedKey(upgrade.req.rawHeaders)
  }

  override get headers(): readonly string[] {
    return this.#headers
  }

  override header(name: string): string | undefined {
    return headerValue(this.#headers, name)
  }

  /** The rest of the request are frames of the WebSocket, and no body. */
  override discardRest(): void {}

  /** Returns the request with its socket, on which this exchange will write no answer. */
  release(): Upgrade {
    const { socket } = this.#upgrade.req
    this.#res.detachSocket(socket)
    return this.#upgrade
  }
}

/** Returns the answer by which a request for a WebSocket is refused, as the last one of its connection. */
export function refusingAnswer({ req, socket }: Upgrade): ServerResponse {
  const res = new ServerResponse(req)
  res.shouldKeepAlive = false
  res.assignSocket(req.socket)
  res.on('finish', () => socket.end(() => socket.destroy()))
  return res
}

/** Pages cannot set headers: OpenAI's clients offer the key there as a subprotocol. */
const offeredKey = /(?:^|,)\s*openai-insecure-api-key\.([^\s,]+)/

/** Returns the headers of a request, with the key among its subprotocols as the bearer token that it is. */
function withOfferedKey(headers: readonly string[]): readonly string[] {
  if (headerValue(headers, 'authorization') !== undefined) return headers
  const [, key] = offeredKey.exec(headerValue(headers, 'sec-websocket-protocol') ?? '') ?? []
  return key === undefined ? headers : [...headers, 'authorization', `Bearer ${key}`]
}

/** Subprotocols that name a credential, or whose it is, and no protocol. */
const namesCredential = /^openai-(?:insecure-api-key|organization|project)\./

/** Returns the first subprotocol that is one. */
export const chosenProtocol = (offered: readonly string[]): string | null => offered.find((name) => !namesCredential.test(name)) ?? null
