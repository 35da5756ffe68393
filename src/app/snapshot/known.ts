import type { Logger } from 'pino'
import { createBloomFilter, type BloomFilter } from '../../lib/collections/bloom-filter.ts'
import { endsWithin } from '../../lib/ends-within.ts'
import type { SideConnections } from '../database/side-pool.ts'
import type { Change } from './change-feed.ts'

/**
 * The organisations and hashed API keys that exist, in memory, at a few bits per key. The database may be asked for these freely. A key that is not
 * among them is a stranger's, or so new that the change has not arrived yet.
 */
export interface ExistenceFilter {
  mayBeKey(keyHash: Uint8Array): boolean
  isOrganisation(id: string): boolean
  /** Returns true once all rows of the database are read. */
  complete(): boolean
  /** Resolves when it is, at the latest after two seconds. */
  ready(): Promise<void>
  /** Takes in a change, soon. */
  changed(change: Change): void
  /** Reads all anew: changes may have been missed. */
  reload(): void
  /** Begins, and retries failed reads; to be called at each contact with the database. */
  goOn(): void
}

interface State {
  readonly connections: SideConnections
  readonly log: Logger
  readonly organisations: Set<string>
  filter: BloomFilter
  /** Counts the times that all was to be read; `loaded` is the latest that was. */
  wanted: number
  loaded: number
  /** Keys that changed, whose hashes are not read yet. */
  changed: Set<string>
  working: Promise<void> | null
  readonly first: PromiseWithResolvers<void>
}

const pageSize = 20_000
const patienceMs = 2000

/** Empty until the first `goOn`. */
export function createKnown(connections: SideConnections, log: Logger): ExistenceFilter {
  const state: State = {
    connections,
    log,
    organisations: new Set(),
    filter: createBloomFilter(0),
    wanted: 1,
    loaded: 0,
    changed: new Set(),
    working: null,
    first: Promise.withResolvers(),
  }
  return {
    mayBeKey: (keyHash) => state.filter.mayHold(keyHash),
    isOrganisation: (id) => state.organisations.has(id.toLowerCase()),
    complete: () => complete(state),
    async ready() {
      if (!complete(state)) await endsWithin(patienceMs, state.first.promise)
    },
    changed({ kind, entityId }) {
      if (kind === 'organisations') state.organisations.add(entityId)
      if (kind !== 'api_keys') return
      state.changed.add(entityId)
      goOn(state)
    },
    reload() {
      state.wanted += 1
      goOn(state)
    },
    goOn: () => goOn(state),
  }
}

const complete = ({ loaded, wanted }: State) => loaded === wanted

function goOn(state: State): void {
  if (state.working !== null || (upToDate(state) && state.changed.size === 0)) return
  state.working = work(state)
    .catch((error: unknown) => state.log.debug({ err: error }, 'the hashes of API keys could not be read'))
    .finally(() => (state.working = null))
}

const upToDate = (state: State) => complete(state) && !state.filter.full()

/** Reads everything if that is needed, then the keys that changed meanwhile. */
async function work(state: State): Promise<void> {
  if (!upToDate(state)) await readAll(state)
  while (state.changed.size > 0) await readChanged(state)
}

async function readAll(state: State): Promise<void> {
  const { wanted } = state
  const { rows: organisations } = await state.connections.query<{ id: string }>('SELECT id FROM organisations')
  for (const { id } of organisations) state.organisations.add(id)
  const { rows: counted } = await state.connections.query<{ keys: number }>('SELECT count(*)::int AS keys FROM api_keys')
  const filter = createBloomFilter(2 * (counted[0]?.keys ?? 0))
  let page: readonly Row[] = []
  do {
    page = await read(state.connections, 'id > $1', page.at(-1)?.id ?? beforeAll)
    put(filter, page)
  } while (page.length === pageSize)
  state.filter = filter
  state.loaded = wanted
  state.first.resolve()
}

const beforeAll = '00000000-0000-0000-0000-000000000000'

async function readChanged(state: State): Promise<void> {
  const ids = [...state.changed].slice(0, pageSize)
  put(state.filter, await read(state.connections, 'id = ANY($1)', ids))
  for (const id of ids) state.changed.delete(id)
}

interface Row {
  readonly id: string
  readonly one: Buffer
  readonly other: Buffer | null
}

async function read(connections: SideConnections, which: string, value: string | readonly string[]): Promise<readonly Row[]> {
  const { rows } = await connections.query<Row>(
    `SELECT id, substring(key_hash FROM 1 FOR 16) AS one, substring(previous_key_hash FROM 1 FOR 16) AS other
       FROM api_keys WHERE ${which} AND status <> 'archived' ORDER BY id LIMIT ${pageSize}`,
    [value],
  )
  return rows
}

function put(filter: BloomFilter, rows: readonly Row[]): void {
  for (const { one, other } of rows) {
    filter.add(one)
    if (other !== null) filter.add(other)
  }
}
