import { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Upgrade } from '../egress/web-socket.ts'
import { headerValue } from '../wire/header-list.ts'
import { type Edge, NodeExchange } from './node-exchange.ts'

/** The exchange of a request for a WebSocket: it is refused as any other over HTTP, or its socket is taken over. */
export class UpgradeExchange extends NodeExchange {
  readonly #upgrade: Upgrade
  readonly #res: ServerResponse
  readonly #headers: readonly string[]
  readonly #url: string

  /** `res`: the answer on the socket of the request, when it is refused. */
  constructor(upgrade: Upgrade, res: ServerResponse, edge: Edge) {
    super(upgrade.req, res, edge)
    this.#upgrade = upgrade
    this.#res = res
    const addressed = byModel(super.url, withOfferedKey(upgrade.req.rawHeaders))
    this.#headers = addressed.headers
    this.#url = addressed.url
  }

  readonly upgrades = true
  #isAccepted = false

  /** True once its answer is that it goes on as a WebSocket; it is then released. */
  get isAccepted(): boolean {
    return this.#isAccepted
  }

  /** Frames of the WebSocket follow the request, and no body. */
  override get body(): Readable {
    return Readable.from([])
  }

  override get complete(): boolean {
    return true
  }

  override get status(): number {
    return this.#isAccepted ? 101 : super.status
  }

  /** The head of a 101 is written when the socket is taken over. */
  override head(status: number, statusText: string, headers: string[]): void {
    if (status === 101) this.#isAccepted = true
    else super.head(status, statusText, headers)
  }

  override end(bytes?: Uint8Array | string): void {
    if (!this.#isAccepted) super.end(bytes)
  }

  override get url(): string {
    return this.#url
  }

  override get headers(): readonly string[] {
    return this.#headers
  }

  override header(name: string): string | undefined {
    return headerValue(this.#headers, name)
  }

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

/** A provider before the model of a query: `@slug/model`. */
const withProvider = /([?&]model=)(?:@|%40)([\w.-]+)(?:\/|%2F)/i

/** Returns the request with the provider of its model in a header, where requests without a body name it. */
function byModel(url: string, headers: readonly string[]): { readonly url: string; readonly headers: readonly string[] } {
  const [, , slug] = withProvider.exec(url) ?? []
  if (slug === undefined) return { url, headers }
  return { url: url.replace(withProvider, '$1'), headers: [...headers, 'x-service-provider', `@${slug}`] }
}
