import type { EntitySchema, EventSubscriber, TransactionOptions } from '@mikro-orm/core'
import { MikroORM, type EntityManager } from '@mikro-orm/postgresql'
import type { ClientConfig, Pool } from 'pg'
import type { Logger } from 'pino'
import { endsWithin } from '../../lib/ends-within.ts'
import { silenceMs } from './connect.ts'
import { demandStorable } from './database-fault.ts'
import { inDatabaseTurn, keepTurns } from './database-turns.ts'
import { replaceDead } from './pool.ts'
import { sessionPoolOptions } from './session.ts'

export interface OrmOptions {
  /** `Connection.runtime`. */
  readonly client: ClientConfig
  readonly poolSize: number
  readonly entities: readonly EntitySchema[]
  /** Called with the changes of units of work. */
  readonly subscribers?: readonly EventSubscriber[]
  /** Gets a line for each connection that the server closed; without it they are replaced in silence. */
  readonly log?: Logger
  /** Given the pool, for its metrics. */
  readonly onPool?: (pool: Pool) => void
}

interface TenantArguments {
  readonly organisationId?: string
  readonly system?: boolean
}

/**
 * The first of the two tenant walls, for every entity with an `organisationId`: `filters: { tenant: tenantFilter }`.
 * On unless switched off by `{ filters: false }`; outside `inTenant` and `asSystem` a query fails instead of showing all.
 */
export const tenantFilter = {
  name: 'tenant',
  cond: (given: TenantArguments) => (given.system === true ? {} : { organisationId: given.organisationId }),
  default: true,
  args: true,
} as const

/** Opens the pool and the entity metadata. Does not touch the file system, and makes no connection yet. */
export async function openOrm({ client, poolSize, entities, subscribers = [], log, onPool }: OrmOptions): Promise<MikroORM> {
  const orm = await MikroORM.init({
    dbName: client.database ?? 'postgres',
    entities: [...entities],
    subscribers: [...subscribers],
    discovery: { warnWhenNoEntities: false },
    autoJoinRefsForFilters: false,
    ensureDatabase: false,
    metadataCache: { enabled: false },
    debug: false,
    colors: false,
    logger: (message) => log?.warn(message),
    onQuery: demandStorable,
    driverOptions: {
      ...sessionPoolOptions(client),
      ssl: false,
      max: poolSize,
      idleTimeoutMillis: 30_000,
      // Merging options would copy the TLS context, which has to stay the very object.
      onPoolCreated: (pool: Pool) => {
        pool.options.ssl = client.ssl
        replaceDead(pool, silenceMs)
        onPool?.(pool)
      },
    },
  })
  keepTurns(orm, poolSize)
  return orm
}

/**
 * One transaction in which only one organisation's rows exist: for the filter, and for row-level security, whose setting ends
 * with the transaction, so that a shared connection (also pgbouncer's) never carries it on. Raw SQL inside runs in the same
 * transaction: `em.execute('SELECT slug FROM workspaces WHERE id = ?', [id])`, or typed queries through `em.getKysely<Tables>()`.
 * Organisations take turns at the connections.
 */
export function inTenant<T>(orm: MikroORM, organisationId: string, work: (em: EntityManager) => Promise<T>): Promise<T> {
  const em = orm.em.fork({ session: { variables: { 'app.organisation_id': organisationId } } })
  em.setFilterParams('tenant', { organisationId })
  return inDatabaseTurn(orm, { organisationId, kind: 'transactions' }, () => em.transactional(work))
}

/** One transaction of the process itself, which sees every organisation: jobs, the snapshot, the journal, provisioning. */
export function asSystem<T>(orm: MikroORM, work: (em: EntityManager) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
  const em = orm.em.fork({ session: { variables: { 'app.scope': 'system' } } })
  em.setFilterParams('tenant', { system: true })
  return em.transactional(work, options)
}

const closeWithinMs = 5_000

/** Closes the pool. Rejects after five seconds: the goodbye to a server that no longer answers has no time limit of its own. */
export async function closeOrm(orm: MikroORM): Promise<void> {
  if (!(await endsWithin(closeWithinMs, orm.close(true)))) throw new Error(`it took longer than ${closeWithinMs} ms`)
}
