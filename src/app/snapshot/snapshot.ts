import type { ClientConfig, QueryConfig, QueryResultRow } from 'pg'
import type { Logger } from 'pino'
import type { Snapshot, TokenSource } from '../../gateway/ports.ts'
import { endsWithin } from '../../lib/ends-within.ts'
import { ApiError } from '../../lib/errors.ts'
import { type MaybePromise, settled } from '../../lib/maybe-promise.ts'
import { databaseFault } from '../database/database-fault.ts'
import { retryLocked } from '../database/lock-trouble.ts'
import type { Vault } from '../secrets/vault.ts'
import type { SideConnections, SidePool } from '../database/side-pool.ts'
import { followChanges, type Change, type ChangeFeed } from './change-feed.ts'
import { createHeldViews, type HeldViews } from './held-views.ts'
import { createKnown, type ExistenceFilter } from './known.ts'
import { complete, type Ask, type Lookup, type View, type Views, type ViewSource } from './view.ts'

export interface SnapshotOptions {
  /** `Connection.runtime`, for the connection that follows changes. */
  readonly client: ClientConfig
  readonly side: SidePool
  readonly vault: Vault
  readonly log: Logger
  /** `config.cacheMaxStaleMs` */
  readonly maxStaleMs: number
  /** The views of all features. */
  readonly views: Partial<Views>
  /** Returns true if an address has shown too many invalid credentials, so that the database is not asked for another. */
  readonly spent?: (address: string) => boolean
  /** Called with changes, beside the views. */
  readonly followers?: readonly Follower[]
  readonly pollMs?: number
  /** The name of the session that follows changes. */
  readonly sessionName?: string
}

/** Memory apart from the views that changes make stale. */
export interface Follower {
  changed(change: Change): void
  /** Forgets all: changes may have been missed. */
  clear(): void
}

/** The Snapshot door on PostgreSQL, with the state that readiness and metrics show. */
export interface LiveSnapshot extends Snapshot, TokenSource {
  /** True if cached views may serve: the database answered recently enough. */
  readonly ready: boolean
  /** Resolves at the first contact with the database: before it no view can be read. */
  readonly contacted: Promise<void>
  /** Milliseconds since everything cached was last known to be true; Infinity before the first contact. */
  ageMs(): number
  /** Catches up with all changes committed before the call. */
  refresh(): Promise<void>
  stop(): Promise<void>
}

interface State extends Omit<SnapshotOptions, 'views'> {
  readonly held: HeldViews
  readonly lookups: SideConnections
  /** For keys that are not known to exist, so that they keep no other read waiting. */
  readonly strangers: SideConnections
  readonly known: ExistenceFilter
  /** The number of reads of keys that are not known to exist. */
  asking: number
  readonly started: PromiseWithResolvers<void>
  contactAt: number
  /** Looked up by every request, so that it is kept by a timer. */
  stale: boolean
}

const maxLoading = 1000
const maxAsking = 200
const firstContactMs = 2000

/** Starts to follow the control plane; views are loaded on their first use. */
export function createSnapshot(options: SnapshotOptions): LiveSnapshot {
  const lookups = options.side.of('lookups')
  const state: State = {
    ...options,
    held: createHeldViews(),
    lookups,
    strangers: options.side.of('strangers'),
    known: createKnown(lookups, options.log),
    asking: 0,
    started: Promise.withResolvers(),
    contactAt: -Infinity,
    stale: true,
  }
  const feed = followChanges(feedOptions(state))
  const clock = setInterval(() => (state.stale = ageMs(state) > state.maxStaleMs), 250).unref()
  return {
    ...answerWith(options.views, (view) => reader(state, feed, view)),
    get ready() {
      return !state.stale
    },
    contacted: state.started.promise,
    ageMs: () => ageMs(state),
    refresh: () => feed.refresh(),
    async stop() {
      clearInterval(clock)
      await feed.stop()
    },
  }
}

const ageMs = (state: State): number => performance.now() - state.contactAt

const feedOptions = (state: State) => ({
  client: state.client,
  log: state.log,
  pollMs: state.pollMs ?? 500,
  sessionName: state.sessionName,
  onChange(change: Change) {
    state.held.changed(change)
    state.known.changed(change)
    for (const follower of state.followers ?? []) follower.changed(change)
  },
  onGap() {
    state.held.clear()
    for (const follower of state.followers ?? []) follower.clear()
    state.known.reload()
  },
  onContact(at: number) {
    state.contactAt = at
    state.stale = false
    state.started.resolve()
    state.known.goOn()
  },
})

/** Answers the gateway's ports, one method a view. */
function answerWith(
  views: Partial<Views>,
  readerOf: <One, Other, Result>(view: View<One, Other, Result>) => Reader<One, Other, Result>,
): Snapshot & TokenSource {
  const {
    key,
    keyById,
    provider,
    providers,
    config,
    guardrail,
    pluginCredentials,
    prompt,
    policies,
    mcpServer,
    mcpSignIn,
    mcpGrant,
    tokenIssuer,
    tokenHolder,
  } = complete(views)
  const list = readerOf(providers)
  const readPolicies = readerOf(policies)
  const readKey = readerOf(keyById)
  const readGrant = readerOf(mcpGrant)
  return {
    key: readerOf(key),
    keyById: (id) => readKey(id, undefined),
    provider: readerOf(provider),
    providers(scope) {
      return settled(list(scope, undefined), (rows) => rows ?? [])
    },
    config: readerOf(config),
    guardrail: readerOf(guardrail),
    pluginCredentials: readerOf(pluginCredentials),
    prompt: readerOf(prompt),
    policies: (scope) => readPolicies(scope, undefined),
    mcpServer: readerOf(mcpServer),
    mcpSignIn: readerOf(mcpSignIn),
    mcpGrant: (owner) => readGrant(owner, undefined),
    tokenIssuer: readerOf(tokenIssuer),
    tokenHolder: readerOf(tokenHolder),
  }
}

type Reader<One, Other, Result> = (one: One, other: Other) => MaybePromise<Result | null>

function reader<One, Other, Result>(state: State, feed: ChangeFeed, view: View<One, Other, Result>): Reader<One, Other, Result> {
  const cache = state.held.open(view)
  const source: ViewSource = {
    vault: state.vault,
    known: state.known,
    opened: (reference, open) =>
      open().catch((error: unknown) => {
        throw error instanceof ApiError ? error : unreadable(state, reference, error)
      }),
  }
  return (one, other) => {
    const id = view.key(one, other)
    if (id === null) return null
    const found = cache.hit(id)
    if (found !== undefined) return fresh(state, found)
    const lookup = view.find(one, other, source)
    return lookUp(state, feed, { ...lookup, start: (connections) => cache.load(id, () => lookup.read(askOf(state, connections))) })
  }
}

/** Queries of a view: one that loses a deadlock is retried, and one that fails reports that the database is away. */
const askOf =
  (state: State, connections: SideConnections): Ask =>
  <Row extends QueryResultRow>(query: QueryConfig) =>
    read(state, async () => (await connections.query<Row>(query)).rows)

/** A view that is not in memory. */
interface MissingView<Result> extends Pick<Lookup<Result>, 'isKnown' | 'address'> {
  readonly start: (connections: SideConnections) => Promise<Result | null>
}

function lookUp<Result>(state: State, feed: ChangeFeed, wanted: MissingView<Result>): MaybePromise<Result | null> {
  if (wanted.isKnown?.() !== false) return load(state, feed, () => wanted.start(state.lookups))
  if (state.known.complete() && mayNotAsk(state, wanted)) return null
  return askForStranger(state, feed, wanted)
}

const mayNotAsk = ({ spent }: State, { address }: { readonly address?: string | undefined }) =>
  address !== undefined && spent?.(address) === true

/** Asks the database for an unknown key, which may be new: a few at a time, and apart from requests for known ones. */
async function askForStranger<Result>(state: State, feed: ChangeFeed, wanted: MissingView<Result>): Promise<Result | null> {
  if (!feed.connected()) throw unavailable()
  if (state.asking >= (state.known.complete() ? maxAsking : maxLoading)) throw crowded()
  state.asking += 1
  try {
    if (state.contactAt === -Infinity) await firstContact(state)
    await state.known.ready()
    if (wanted.isKnown?.() !== false) return await load(state, feed, () => wanted.start(state.lookups))
    return mayNotAsk(state, wanted) ? null : await wanted.start(state.strangers)
  } finally {
    state.asking -= 1
  }
}

function fresh<Seen>(state: State, view: Seen): Seen {
  if (state.stale) throw unavailable()
  return view
}

/** Refuses at once while the database is known to be away, so that no request hangs on it. */
async function load<Read>(state: State, feed: ChangeFeed, start: () => Promise<Read>): Promise<Read> {
  if (!feed.connected()) throw unavailable()
  if (state.contactAt === -Infinity) await firstContact(state)
  if (state.held.loading() >= maxLoading + maxAsking) throw crowded()
  return start()
}

/** A view read before the feed has begun could miss its own change. */
async function firstContact(state: State): Promise<void> {
  if (!(await endsWithin(firstContactMs, state.started.promise))) throw unavailable()
}

async function read<T>(state: State, query: () => Promise<T>): Promise<T> {
  try {
    return await retryLocked(query)
  } catch (error) {
    const fault = databaseFault(error)
    if (fault?.code === 'invalid_request') throw fault
    state.log.debug({ err: error }, 'a view could not be read')
    throw unavailable(error)
  }
}

function unreadable({ log }: State, slug: string, error: unknown): ApiError {
  log.error({ err: error, slug }, 'a sealed value cannot be opened')
  return new ApiError('credential_failed', `The sealed value of ${slug} cannot be opened. Store it again.`, { cause: error })
}

const crowded = () =>
  new ApiError('overloaded', 'Too many keys that are not in memory are being looked up. Try again shortly.', { retryAfter: 1 })

const unavailable = (cause?: unknown) =>
  new ApiError(
    'dependency_unavailable',
    'The database is not reachable, and the data of this request is not in memory. Try again shortly.',
    { cause },
  )
