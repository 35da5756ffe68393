import { connect } from '../../../src/app/database/connect.ts'
import { settleUsage } from '../../../src/features/analytics/analytics.jobs.ts'
import { startShipper } from '../../../src/app/journal/shipper.ts'
import type { ExchangeRecord } from '../../../src/gateway/ports.ts'
import { openJournal } from '../../../src/gateway/journal/journal.ts'
import { userScopes } from '../../../src/lib/access/scopes.ts'
import { silent } from '../../support/database.ts'
import { exchangeBodies, exchangeRecord, temporaryDirectory } from '../../support/journal.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

/** An organisation with 150 logs of the last week that differ in every trait, and a member who made some of them. */
export interface UsedControl {
  readonly control: Control
  readonly acme: Tenant
  /** A member of `side`, and their key. */
  readonly ada: { readonly userId: string; readonly key: string }
  readonly records: readonly ExchangeRecord[]
  /** Pico-US-dollars, adjustments included. */
  picoOf(record: ExchangeRecord): bigint
  ship(records: readonly ExchangeRecord[]): Promise<void>
  close(): Promise<void>
}

const delta = 7_000_000_000n
const pick = <Value>(values: readonly Value[], at: number): Value => values[at % values.length] as Value

/** Differs in every trait; the numbers have no common period. */
export function usedRecord(tenant: Tenant, userId: string, at: number): ExchangeRecord {
  const tokens = pick([null, at, at * 3], at)
  return exchangeRecord({
    organisationId: tenant.organisationId,
    workspaceId: pick([tenant.workspaceId, tenant.sideId], Math.floor(at / 3)),
    createdAt: Date.now() - at * 3_700_000,
    userId: pick([userId, null, null], at),
    provider: pick(['openai', 'anthropic', null], at),
    providerSlug: pick(['p', 'q'], at),
    model: pick(['gpt-4o', 'o3', 'opus', null, 'haiku'], at),
    status: pick([200, 200, 429, 200, 500, 200, 404], at),
    outcome: pick(['complete', 'complete', 'client_closed'], at),
    durationMs: at * 11,
    cacheStatus: pick(['DISABLED', 'HIT', 'MISS', 'SEMANTIC HIT'], at),
    retryCount: pick([0, 0, 1, 0, 2], at),
    metadata: pick([{}, { _user: `u${at % 11}` }, { _user: `u${at % 7}`, env: 'prod' }], at),
    traceId: `trace-${at % 40}`,
    config: pick([null, { slug: 'c', version: 1 }], at),
    attempts: at % 4 === 0 ? pick([attemptsAt('config.targets[0]', 'config.targets[1]'), attemptsAt('config')], at / 4) : null,
    usage: tokens === null ? null : { ...exchangeRecord().usage, inputTokens: tokens, outputTokens: 1, totalTokens: tokens + 1 },
    cost: at % 5 === 0 ? null : costOf(at),
  } as Partial<ExchangeRecord>)
}

const costOf = (at: number) => ({
  amount: String(BigInt(at) * 1_000_000_007n),
  state: 'priced',
  catalogue: null,
  lines: [],
  unpriced: [],
  charges: [],
  saved: at % 3 === 0 ? String(BigInt(at) * 3_000_000_001n) : null,
})

const attemptsAt = (...options: readonly string[]) =>
  options.map((option) => ({
    option,
    provider: 'openai',
    providerSlug: 'p',
    model: 'o3',
    status: 200,
    failure: null,
    error: null,
    startMs: 0,
    durationMs: 1,
    responseBytes: 1,
    usage: null,
  }))

export async function startUsed(): Promise<UsedControl> {
  const directory = temporaryDirectory()
  const journal = openJournal({ directory: directory.path, maxBodyBytes: 1 << 20, maxSpoolBytes: 1 << 26 })
  const control = await startControl()
  const acme = await control.createTenant('acme')
  const other = await control.createTenant('other')
  const userId = await control.createUser(acme, { email: 'ada@acme.example', workspaces: { [acme.sideId]: 'member' } })
  const ada = { userId, key: await control.createKey(acme, { workspaceId: acme.sideId, userId, scopes: userScopes }) }
  const { database } = control.started.deps.config
  const { runtime } = await connect(database, silent)
  const shipper = startShipper({ directory: directory.path, database, client: runtime, log: silent })
  const ship = async (records: readonly ExchangeRecord[]) => {
    for (const record of records) journal.append(record, exchangeBodies('{}', '{}'))
    await shipper.flushed()
  }
  const records = Array.from({ length: 150 }, (_, at) => usedRecord(acme, userId, at + 1))
  await ship([...records, usedRecord(other, userId, 1)])
  await control.sql.query(
    `INSERT INTO cost_adjustments (organisation_id, recompute_id, log_id, log_created_at, delta_pico, cost_pico, cost_state, lines)
     VALUES ($1, gen_random_uuid(), $2, $4, $3, 0, 'priced', '[]')`,
    [acme.organisationId, records[0]?.id, delta, new Date(records[0]?.createdAt ?? 0)],
  )
  await settleUsage.run(control.started.deps)
  return {
    control,
    acme,
    ada,
    records,
    ship,
    picoOf: ({ id, cost }) => BigInt(cost?.amount ?? 0) + (id === records[0]?.id ? delta : 0n),
    async close() {
      await journal.close()
      await shipper.stop()
      directory.remove()
      await control.close()
    },
  }
}
