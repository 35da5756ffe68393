import type { ApiError } from '../../../lib/errors.ts'
import type { Fields } from '../../../lib/json/fields.ts'
import type { AllowedHosts } from '../../egress/allowed-hosts.ts'
import type { HeaderList } from '../../wire/header-list.ts'
import type { ClientFacts } from '../protocol/envelope.ts'
import type { RpcAnswer, RpcCall } from '../protocol/messages.ts'
import type { Era } from '../protocol/revisions.ts'

/** A server of MCP with the credential that goes to it. */
export interface UpstreamServer {
  readonly id: string
  readonly organisationId: string
  /** The hosts that the organisation allows; null, or absent: all, or the egress is bound to them already. */
  readonly allowedHosts?: AllowedHosts | null
  readonly url: string
  readonly transport: 'http' | 'sse'
  /** The credential and all else that every request to it carries. */
  readonly headers: HeaderList
  /** Absent: the gateway does not sign in by OAuth. */
  readonly signIn?: UpstreamSignIn
}

/** A sign-in of the gateway by OAuth, whose tokens come and go. */
export interface UpstreamSignIn {
  /** Stands for its holder, who stays the same. */
  readonly name: string
  /** Returns the header that shows the token of now. `refused`: the one that the server has just refused; null: none. */
  authorization(refused: string | null): Promise<string>
  /** Returns the error of a call whose server refuses a renewed token too. */
  refusal(): ApiError
  /** Takes the tokens that were shown out of a text. */
  hide(text: string): string
}

/** A server, and the principal of its caller: state that it keeps belongs to both together. */
export interface UpstreamPeer {
  readonly server: UpstreamServer
  readonly principal: string
  readonly client: ClientFacts
  /** Called when the server is asked about itself first. */
  noteAsked?(): void
}

/** The facts that a server states about itself. */
export interface ServerFacts {
  readonly era: Era
  /** The revision that is spoken with it. */
  readonly revision: string
  readonly capabilities: Fields
  readonly serverInfo: Fields
  readonly instructions: string | null
}

/** Questions of a server in the middle of a call, by a name that it gave them. */
export type Questions = Readonly<Record<string, RpcCall>>
/** The results that answer questions, by the same names. */
export type QuestionResults = Readonly<Record<string, Fields>>

/** The level of a legacy client that has set none: it gets all that the server sends by itself. */
export const anyLevel = 'any'

/** How far a request got at its server: it went out, or the server has refused it by its status. */
export type RequestMark = 'sent' | 'refused'

/** One request to a server, in the form of the modern revision without its envelope. */
export interface UpstreamRequest extends RpcCall {
  /** The level from which on its client wants log messages, or `anyLevel`; null: it wants none. */
  readonly logLevel: string | null
  /** Arguments that the client repeated in headers: they are compared, and never sent. */
  readonly paramHeaders: HeaderList
  readonly signal: AbortSignal
  /** False: `notify` has no effect. Absent: it has. */
  readonly isHeard?: boolean
  notify(call: RpcCall): void
  /** Called with each mark as it comes; the last one counts. */
  readonly mark?: ((mark: RequestMark) => void) | undefined
  /** Asks the client; null: questions are given back as a result (`input_required`). Rejects when the client does not answer them. */
  readonly ask: ((questions: Questions) => Promise<QuestionResults>) | null
}

/** The changes that a client wants. */
export interface ChangeFilter {
  readonly toolsListChanged: boolean
  readonly promptsListChanged: boolean
  readonly resourcesListChanged: boolean
  readonly resourceSubscriptions: readonly string[]
}

/** The listener of a client for changes. `ended` is called once, when no more will come. */
export interface ChangeListener {
  readonly filter: ChangeFilter
  notify(call: RpcCall): void
  ended(): void
}

/** A way to speak with one server. */
export interface UpstreamLink {
  readonly facts: ServerFacts
  request(request: UpstreamRequest): Promise<RpcAnswer>
  /** Resolves to the means to stop listening. */
  listen(listener: ChangeListener): Promise<() => void>
}

/** The bounds of exchanges with servers. */
export interface UpstreamBounds {
  /** The longest silence of a server. */
  readonly idleMs: number
  /** The longest time for one request. */
  readonly totalMs: number
  readonly resultBytes: number
}
