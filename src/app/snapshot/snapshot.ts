import { hash } from 'node:crypto'
import { Pool, type ClientConfig, type QueryConfig, type QueryResultRow } from 'pg'
import type { Logger } from 'pino'
import type { KeyView, ListedProvider, ProviderScope, ProviderView, Snapshot, TokenSource } from '../../gateway/ports.ts'
import type { Prompt } from '../../gateway/prompts/prompt.ts'
import { endsWithin } from '../../lib/ends-within.ts'
import { ApiError } from '../../lib/errors.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import { retryLocked } from '../database/lock-trouble.ts'
import type { Vault } from '../secrets/vault.ts'
import { type Caches, forgetAll, forgetChanged, loading, openCaches } from './caches.ts'
import { followChanges, systemSession, type Change, type ChangeFeed } from './change-feed.ts'
import { readConfig } from './config-views.ts'
import { readGuardrail } from './guardrail-views.ts'
import { readPlugin } from './plugin-views.ts'
import { createKnown, type Known } from './known.ts'
import { readPrompt } from './prompts.ts'
import { readProviderList } from './provider-lists.ts'
import { readTokenHolder, readTokenIssuer } from './token-views.ts'
import type { Loaded, ViewCache } from './view-cache.ts'
import { readKey, readProvider, type OpenedIntegration, type SealedIntegration } from './views.ts'

export interface SnapshotOptions {
  /** `Connection.runtime`. The snapshot has connections of its own, so that nothing else can starve the key check. */
  readonly client: ClientConfig
  readonly vault: Vault
  readonly log: Logger
  /** `config.cacheMaxStaleMs` */
  readonly maxStaleMs: number
  /** `loadCredential` of the integrations feature, which knows how credentials are sealed. */
  readonly loadCredential: (integration: SealedIntegration, vault: Vault) => Promise<OpenedIntegration>
  /** Whether an address has shown so many credentials that were not good that the database is not asked for another. */
  readonly spent?: (address: string) => boolean
  readonly pollMs?: number
  /** Of the session that follows changes. */
  readonly sessionName?: string
}

/** The Snapshot door on PostgreSQL, with what readiness and metrics ask of it. */
export interface LiveSnapshot extends Snapshot, TokenSource {
  /** Whether cached views may serve: the database was seen, not too long ago. */
  readonly ready: boolean
  /** Resolves at the first contact with the database: before it nothing can be read. */
  readonly contacted: Promise<void>
  /** Milliseconds since everything cached was last known to be true; Infinity before the first contact. */
  ageMs(): number
  /** Catches up with all changes committed before the call. */
  refresh(): Promise<void>
  stop(): Promise<void>
}

interface State extends SnapshotOptions {
  readonly caches: Caches
  readonly pool: Pool
  /** For what nobody knows to be there, so that it keeps nothing else waiting. */
  readonly strangers: Pool
  readonly known: Known
  /** How many ask for what nobody knows to be there. */
  asking: number
  readonly started: PromiseWithResolvers<void>
  contactAt: number
  /** Looked up by every request, so that it is kept by a timer. */
  stale: boolean
}

const maxLoading = 1000
const maxAsking = 200
const firstContactMs = 2000
const longestSlug = 255
const longestReference = 2 * longestSlug + 1

/** Starts to follow the control plane; views are loaded on their first use. */
export function createSnapshot(options: SnapshotOptions): LiveSnapshot {
  const [pool, strangers] = [openPool(options, 2), openPool(options, 1)]
  const state: State = {
    ...options,
    caches: openCaches(),
    pool,
    strangers,
    known: createKnown(pool, options.log),
    asking: 0,
    started: Promise.withResolvers(),
    contactAt: -Infinity,
    stale: true,
  }
  const feed = followChanges(feedOptions(state))
  const clock = setInterval(() => (state.stale = ageMs(state) > state.maxStaleMs), 250).unref()
  return {
    key: (secret, address) => key(state, feed, { secret, address }),
    provider: (scope, slug) => provider(state, feed, { scope, slug }),
    providers: (scope) => providers(state, feed, scope),
    config: (scope, reference) => document(state, feed, { cache: state.caches.configs, read: readConfig, scope, reference }),
    guardrail: (scope, reference) => document(state, feed, { cache: state.caches.guardrails, read: readGuardrail, scope, reference }),
    pluginCredentials: (scope, plugin) =>
      document(state, feed, { cache: state.caches.plugins, read: readPlugin, scope, reference: plugin }),
    prompt: (scope, reference) => prompt(state, feed, { scope, reference }),
    tokenIssuer: (organisationId, address) =>
      plain(state, feed, {
        cache: state.caches.issuers,
        id: organisationId,
        read: (from) => readTokenIssuer(from, organisationId),
        isKnown: () => state.known.isOrganisation(organisationId),
        address,
      }),
    tokenHolder: (organisationId, wanted) =>
      plain(state, feed, {
        cache: state.caches.holders,
        id: JSON.stringify([organisationId, wanted.workspace, wanted.email, wanted.identity]),
        read: (from) => readTokenHolder(from, organisationId, wanted),
        isKnown: () => true,
      }),
    get ready() {
      return !state.stale
    },
    contacted: state.started.promise,
    ageMs: () => ageMs(state),
    refresh: () => feed.refresh(),
    async stop() {
      clearInterval(clock)
      await Promise.all([feed.stop(), pool.end().catch(() => {}), strangers.end().catch(() => {})])
    },
  }
}

function openPool({ client, log }: SnapshotOptions, max: number): Pool {
  const pool = new Pool({ ...systemSession(client), max, idleTimeoutMillis: 30_000 })
  pool.on('error', (error) => log.debug({ err: error }, 'an idle snapshot connection was lost'))
  return pool
}

const ageMs = (state: State): number => performance.now() - state.contactAt

const feedOptions = (state: State) => ({
  client: state.client,
  log: state.log,
  pollMs: state.pollMs ?? 500,
  sessionName: state.sessionName,
  onChange(change: Change) {
    forgetChanged(state.caches, change)
    state.known.changed(change)
  },
  onGap() {
    forgetAll(state.caches)
    state.known.reload()
  },
  onContact(at: number) {
    state.contactAt = at
    state.stale = false
    state.started.resolve()
    state.known.goOn()
  },
})

interface ShownKey {
  readonly secret: string
  readonly address: string | undefined
}

function key(state: State, feed: ChangeFeed, { secret, address }: ShownKey): MaybePromise<KeyView | null> {
  // A digest for the memory only, seven times cheaper than the keyed hash by which the database knows the key.
  const id = hash('sha256', secret, 'base64')
  const found = state.caches.keys.hit(id)
  if (found !== undefined) return fresh(state, found)
  const keyHash = state.vault.hashKey(secret)
  return lookUp(state, feed, {
    isKnown: () => state.known.mayBeKey(keyHash),
    address,
    start: (pool) => state.caches.keys.load(id, () => read(state, () => readKey(pool, keyHash, () => performance.now()))),
  })
}

/** Something that strangers can name. */
interface Named<View> {
  /** Whether it may be there, by all that was told. */
  readonly isKnown: () => boolean
  /** Whose wish it is; undefined: somebody's who was let in. */
  readonly address?: string | undefined
  readonly start: (pool: Pool) => Promise<View | null>
}

function lookUp<View>(state: State, feed: ChangeFeed, named: Named<View>): MaybePromise<View | null> {
  if (named.isKnown()) return load(state, feed, () => named.start(state.pool))
  if (state.known.complete() && mayNotAsk(state, named)) return null
  return askForStranger(state, feed, named)
}

const mayNotAsk = ({ spent }: State, { address }: { readonly address?: string | undefined }) =>
  address !== undefined && spent?.(address) === true

/** What is not known may be new: the database is asked for a few at a time, apart from what is known to be there. */
async function askForStranger<View>(state: State, feed: ChangeFeed, named: Named<View>): Promise<View | null> {
  if (!feed.connected()) throw unavailable()
  if (state.asking >= (state.known.complete() ? maxAsking : maxLoading)) throw crowded()
  state.asking += 1
  try {
    if (state.contactAt === -Infinity) await firstContact(state)
    await state.known.ready()
    if (named.isKnown()) return await load(state, feed, () => named.start(state.pool))
    return mayNotAsk(state, named) ? null : await named.start(state.strangers)
  } finally {
    state.asking -= 1
  }
}

function provider(
  state: State,
  feed: ChangeFeed,
  { scope, slug }: { scope: ProviderScope; slug: string },
): MaybePromise<ProviderView | null> {
  const id = `${scope.workspaceId ?? scope.organisationId}/${slug}`
  const found = state.caches.providers.hit(id)
  if (found !== undefined) return fresh(state, found)
  if (slug.length > longestSlug) return null
  return load(state, feed, () => state.caches.providers.load(id, () => openProvider(state, scope, slug)))
}

/** A view that is read from plain columns. */
interface Plain<View> {
  readonly cache: ViewCache<View>
  readonly id: string
  readonly read: (pool: Pool) => Promise<Loaded<View> | null>
  readonly isKnown: () => boolean
  readonly address?: string | undefined
}

function plain<View>(
  state: State,
  feed: ChangeFeed,
  { cache, id, read: readPlain, isKnown, address }: Plain<View>,
): MaybePromise<View | null> {
  const found = cache.hit(id)
  if (found !== undefined) return fresh(state, found)
  return lookUp(state, feed, { isKnown, address, start: (pool) => cache.load(id, () => read(state, () => readPlain(pool))) })
}

/** An admin key is of no workspace, and calls no provider. */
function providers(state: State, feed: ChangeFeed, scope: ProviderScope): MaybePromise<readonly ListedProvider[]> {
  const { workspaceId } = scope
  if (workspaceId === null) return []
  const cache = state.caches.providerLists
  const found = plain(state, feed, { cache, id: workspaceId, read: (from) => readProviderList(from, scope), isKnown: () => true })
  return found instanceof Promise ? found.then((list) => list ?? []) : (found ?? [])
}

/** A kind of view that is read from one sealed row, found by slug or id. */
interface Documents<View> {
  readonly cache: ViewCache<View>
  readonly read: (
    pool: Pool,
    scope: ProviderScope,
    reference: string,
  ) => Promise<{ readonly open: (vault: Vault) => Promise<Loaded<View>> } | null>
  readonly scope: ProviderScope
  readonly reference: string
}

function document<View>(state: State, feed: ChangeFeed, wanted: Documents<View>): MaybePromise<View | null> {
  const { cache, scope, reference } = wanted
  const id = `${scope.workspaceId ?? scope.organisationId}/${reference}`
  const found = cache.hit(id)
  if (found !== undefined) return fresh(state, found)
  if (reference.length > longestSlug) return null
  return load(state, feed, () => cache.load(id, () => openDocument(state, wanted)))
}

function prompt(
  state: State,
  feed: ChangeFeed,
  { scope, reference }: { scope: ProviderScope; reference: string },
): MaybePromise<Prompt | null> {
  const id = `${scope.workspaceId ?? scope.organisationId}/${reference}`
  const found = state.caches.prompts.hit(id)
  if (found !== undefined) return fresh(state, found)
  if (reference.length > longestReference) return null
  const ask = <Row extends QueryResultRow>(query: QueryConfig<unknown[]>) =>
    read(state, async () => (await state.pool.query<Row>(query)).rows)
  return load(state, feed, () => state.caches.prompts.load(id, () => readPrompt(ask, scope, reference)))
}

async function openDocument<View>(state: State, { read: readSealed, scope, reference }: Documents<View>): Promise<Loaded<View> | null> {
  const sealed = await read(state, () => readSealed(state.pool, scope, reference))
  if (sealed === null) return null
  return sealed.open(state.vault).catch((error: unknown) => {
    throw error instanceof ApiError ? error : unreadable(state, reference, error)
  })
}

async function openProvider(state: State, scope: ProviderScope, slug: string) {
  const sealed = await read(state, () => readProvider(state.pool, scope, slug))
  if (sealed === null) return null
  const opened = await state.loadCredential(sealed.integration, state.vault).catch((error: unknown) => {
    throw error instanceof ApiError ? error : unreadable(state, slug, error)
  })
  return { view: sealed.open(opened), dependsOn: sealed.dependsOn, until: Infinity }
}

function fresh<View>(state: State, view: View): View {
  if (state.stale) throw unavailable()
  return view
}

/** Refuses at once while the database is known to be away, so that no request hangs on it. */
async function load<View>(state: State, feed: ChangeFeed, start: () => Promise<View>): Promise<View> {
  if (!feed.connected()) throw unavailable()
  if (state.contactAt === -Infinity) await firstContact(state)
  if (loading(state.caches) >= maxLoading + maxAsking) throw crowded()
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
    state.log.debug({ err: error }, 'a view could not be read')
    throw unavailable(error)
  }
}

function unreadable({ log }: State, slug: string, error: unknown): ApiError {
  log.error({ err: error, slug }, 'what is stored sealed cannot be opened')
  return new ApiError('credential_failed', `What is stored sealed with ${slug} cannot be opened. Store it again.`, { cause: error })
}

const crowded = () =>
  new ApiError('overloaded', 'Too many keys that are not in memory are being looked up. Try again shortly.', { retryAfter: 1 })

const unavailable = (cause?: unknown) =>
  new ApiError(
    'dependency_unavailable',
    'The database is not reachable, and what this request needs is not in memory. Try again shortly.',
    { cause },
  )
