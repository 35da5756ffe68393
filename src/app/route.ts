import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { z } from 'zod'
import type { FeatureFlag } from '../config/config.ts'
import type { OfferedModel } from '../gateway/ports/models.ts'
import type { AllowedHosts } from '../gateway/ports/egress.ts'
import { ownVersion } from '../gateway/ports/operations.ts'
import type { KeyView } from '../gateway/ports.ts'
import type { AccessSettings } from '../lib/access/access-settings.ts'
import type { Maker } from '../lib/access/rank.ts'
import type { Role } from '../lib/access/roles.ts'
import type { RowChange } from './audit/changes.ts'
import type { AnswerShape } from './answer-shapes.ts'
import type { Deps } from './deps.ts'

/** The caller of the control plane. `workspaceId` is null for an organisation (admin) key. */
export interface Actor {
  /** `operator`: a person at the command line of the installation. */
  readonly type: 'api_key' | 'user' | 'invite' | 'operator' | 'scim_token'
  readonly id: string
  /** The name of the caller, for the audit trail. */
  readonly name?: string | null
  readonly keyType: 'organisation-service' | 'workspace-service' | 'workspace-user'
  readonly organisationId: string
  readonly workspaceId: string | null
  readonly userId: string | null
  /** The role of the user in the workspace; null for a service key. */
  readonly role: Role | null
  /** The person who caused the credential, above whom it never ranks; absent: unknown, or it is their own. */
  readonly maker?: Maker | null
  /** The access settings of the organisation, or of the workspace. */
  readonly settings: AccessSettings
  readonly permissions: ReadonlySet<string>
  /** The session of a person who signed in; absent for every other caller. */
  readonly session?: ActorSession
}

/** The session in which a person acts. */
export interface ActorSession {
  readonly id: string
  /** The value that a change must show in `x-csrf-token`. */
  readonly csrfToken: string
  /** The latest end, epoch milliseconds. */
  readonly expiresAt: number
}

/** The credentials by which callers are known: an API key or token, the cookie of a session, the token of a provisioning client. */
export type CallerKind = 'key' | 'session' | 'scim'

/** Returns the credentials that a route takes: keys and sessions by default. */
export const callersOf = ({ callers }: { readonly callers?: readonly CallerKind[] }): readonly CallerKind[] => callers ?? usualCallers

const usualCallers: readonly CallerKind[] = ['key', 'session']

export type CallerOf = (secret: string) => Promise<KeyView | null>

/** A call of the data plane. */
export interface DataPlaneCall {
  readonly method: string
  /** Path and query below `/v1`. */
  readonly path: string
  /** Flat name, value …, without a credential. */
  readonly headers: readonly string[]
  readonly body?: Buffer
}

/** Calls the data plane as the caller of the request, in this process. Rejects with AB01 where the process has no data plane. */
export type SendCall = (
  call: DataPlaneCall,
) => Promise<{ readonly status: number; readonly headers: readonly string[]; readonly body: Buffer }>

/** An answer of the data plane, from its head on. Read the body to its end, or destroy it. */
export interface RawAnswer {
  readonly status: number
  /** Flat name, value …. */
  readonly headers: readonly string[]
  readonly body: Readable
}

/** Calls the data plane as `SendCall` does, and resolves when the answer begins. The signal ends the call. */
export type ForwardCall = (call: DataPlaneCall, signal: AbortSignal) => Promise<RawAnswer>

/** The result of a handler of a route that answers with a stream: the answer begins when the transaction has ended. */
export class LaterAnswer {
  /** Begins the answer; the signal aborts when the caller has left. */
  readonly open: (signal: AbortSignal) => Promise<RawAnswer>

  constructor(open: (signal: AbortSignal) => Promise<RawAnswer>) {
    this.open = open
  }
}

/** Lists the models that a workspace of the caller's organisation is offered, as the data plane would. */
export type ListModels = (asked: {
  readonly workspaceId: string
  /** The hosts that the organisation lets requests go to; null: all. */
  readonly allowedHosts: AllowedHosts | null
}) => Promise<readonly OfferedModel[]>

/** The resource of a write. Changes of entities are noted by themselves; changes of rows by SQL are passed in `changes`. */
export interface AuditedResource {
  readonly id: string
  readonly workspaceId?: string | null
  /** The noun and the verb of the row, where they are not those of the route. */
  readonly type?: string
  readonly action?: string
  readonly changes?: readonly RowChange[]
}

/**
 * Writes in another organisation than the request's own, as a caller of that organisation: in a transaction of its own, with its row in the trail of
 * that organisation; null: there was no change to write. The handler's own transaction must not be open meanwhile.
 */
export type WriteElsewhere = (actor: Actor, write: (em: EntityManager) => Promise<AuditedResource | null>) => Promise<void>

/** The input of a handler: parsed values, the caller, and this request's unit of work. Never Koa's ctx. */
export interface Call<Params, Query, Body, Found = unknown> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly actor: Actor
  /** The result of `before`. */
  readonly found: Found
  /** A fork inside one transaction, with the tenant set for row-level security and for the `tenant` filter. */
  readonly em: EntityManager
  readonly deps: Deps
  /** Sets the resource of this write for the audit row; the adapter writes the row in the same transaction. */
  readonly audit: (resource: AuditedResource) => void
  /** Runs work when, and only when, the write is committed; no request waits for it, and its failure is logged. */
  readonly afterCommit: (work: () => Promise<void>) => void
  /** For work after the commit. */
  readonly elsewhere: WriteElsewhere
  /** Takes headers of the answer. */
  readonly reply: Reply
  /** Finds the holder of an API key or token, as both planes would; null if it is not valid. */
  readonly callerOf: CallerOf
  readonly send: SendCall
  readonly forward: ForwardCall
  readonly offered: ListModels
  /** Finds the caller once more, as things stand by then; null when they may not call this route any longer. */
  readonly again: () => Promise<Actor | null>
  readonly clientAddress: string
  readonly headers: IncomingHttpHeaders
}

/** Headers that a handler adds to its answer; they go out only when the transaction is committed. */
export interface Reply {
  /** Adds a `Set-Cookie`. An answer with one is never kept for an `Idempotency-Key`. */
  cookie(setCookie: string): void
  /** Sends the browser on by 303; the body is then not sent. */
  redirect(url: string): void
}

/** A request to a route that finds its caller by itself. */
export interface AnonymousCall<Params, Query, Body> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly clientAddress: string
  /** The network of the client, which counts as one: its address, of IPv6 the first 64 bits. */
  readonly clientNetwork: string
  readonly headers: IncomingHttpHeaders
}

/** A request whose caller is known, before its transaction begins. */
export interface EarlyCall<Params, Query, Body> extends AnonymousCall<Params, Query, Body> {
  readonly actor: Actor
  readonly offered: Call<Params, Query, Body>['offered']
  readonly elsewhere: WriteElsewhere
}

export interface RouteSpec<Params, Query, Body, Result, Found = unknown> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/v1`, Koa style: `/api-keys/:id`. */
  readonly path: `/${string}`
  /** The path stands at the origin's root instead of below `/v1`. */
  readonly below?: '/'
  readonly summary: string
  /** The scope a key must hold, e.g. `virtual_keys.list`; any one of a list is enough. */
  readonly permission: string | readonly string[]
  /**
   * `organisation`: only organisation (admin) keys may, even if another credential holds the scope. `programs`: programs need it in order to call
   * models, and keys and tokens may call it also while API_ACCESS_ENABLED is OFF.
   */
  readonly audience?: 'organisation' | 'programs'
  /** Besides the flag of its feature: `OFF` takes the route away. */
  readonly flag?: FeatureFlag
  /** The noun of the audit row, e.g. `api-key`. Needed on every write. */
  readonly resource?: string
  /** The verb of the audit row, when the scope does not contain it. */
  readonly action?: string
  /**
   * The effect, where the method does not tell it. `change`: a GET that changes something, because a standard of others asks for it, such as the return from an
   * identity provider. `none`: a POST that changes no resource, or only adds to the logs, and so leaves no row in the audit trail.
   */
  readonly effect?: 'change' | 'none'
  /** A body may also be a form, as some standards ask; its fields are texts. */
  readonly takes?: 'form'
  /** The most bytes of a body. Absent: those of routes whose callers show no credential before it (`mostStrangersBytes`), or of all other routes. */
  readonly mostBytes?: number
  /** The shape of its answers; JSON when absent. */
  readonly answers?: AnswerShape<Result>
  /** Other names of query fields, e.g. `{ pageSize: 'page_size' }`. */
  readonly aliases?: Readonly<Record<string, string>>
  /** On a PUT or a DELETE: the path of the GET whose answer `If-Match` is about; its own path when absent. */
  readonly representation?: `/${string}`
  /** The credentials that it takes; keys and sessions when absent. With an empty `permission` every caller with one of them may call it. */
  readonly callers?: readonly CallerKind[]
  /** Returns whether a request reads so much that those of its organisation take turns at it, apart from all others. Absent: none does. */
  costly?(input: { readonly query: Query; readonly body: Body }): boolean
  /** Finds callers without a credential by the contents of their requests. Then no scope is asked for, and `permission` is empty. */
  identify?(input: AnonymousCall<Params, Query, Body>, deps: Deps): Promise<Actor>
  /**
   * Reads ahead for the handler, since a request holds one database connection at a time and no connection waits for other hosts: data outside its
   * tenant, and answers of other hosts. Its transactions end before that of the handler begins.
   */
  before?(input: EarlyCall<Params, Query, Body>, deps: Deps): Promise<Found>
  readonly params?: z.ZodType<Params>
  readonly query?: z.ZodType<Query>
  readonly body?: z.ZodType<Body>
  readonly response: z.ZodType<unknown, Result>
}

/** A route with its types erased, for the app, which mounts it, and for the OpenAPI writer. */
export interface Route extends RouteSpec<unknown, unknown, unknown, unknown> {
  handle(call: Call<unknown, unknown, unknown>): Promise<unknown>
}

/** The bound of the bodies of strangers, and of proofs of identity: a hundred unknown fields take a millisecond to refuse. */
export const mostStrangersBytes = 64 * 1024

/** Returns the bound that a route sets to bodies; Infinity: none but that of the installation. */
export const mostBytesOf = ({ mostBytes, identify }: Pick<Route, 'mostBytes' | 'identify'>): number =>
  mostBytes ?? (identify === undefined ? Infinity : mostStrangersBytes)

/** Returns the whole path of a route, Koa style. */
export const wholePath = ({ below, path }: { readonly path: string; readonly below?: '/' | undefined }): string =>
  below === '/' ? path : `${ownVersion}${path}`

/** Returns true if a route changes stored data, and so leaves a row in the audit trail. */
export const changesThings = ({ method, effect }: Pick<Route, 'method' | 'effect'>): boolean =>
  effect === undefined ? method !== 'GET' : effect === 'change'

/** Two steps, so that the schemas fix the types before the handler is checked against them. */
export const route =
  <Result, Params = undefined, Query = undefined, Body = undefined, Found = undefined>(
    spec: RouteSpec<Params, Query, Body, Result, Found>,
  ) =>
  (handle: (call: Call<Params, Query, Body, Found>) => Promise<Result>): Route => ({ ...spec, handle })

/** The methods of requests that may depend on an `If-Match`. */
const conditional: ReadonlySet<Route['method']> = new Set(['PUT', 'DELETE'])

/** Returns true if a route honours `If-Match`. */
export const isConditional = ({ method }: Pick<Route, 'method'>): boolean => conditional.has(method)
