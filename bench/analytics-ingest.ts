import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { connect } from '../src/app/database/connect.ts'
import { startShipper } from '../src/app/journal/shipper.ts'
import { openJournal } from '../src/gateway/journal/journal.ts'
import { uuidv7 } from '../src/lib/uuid.ts'
import { inDatabase } from '../test/support/database.ts'
import { exchangeBodies, exchangeRecord } from '../test/support/journal.ts'
import { kilobytes } from './analytics-data.ts'
import { again, type Bench, spread, type Spread } from './analytics-bench.ts'
import { graphsOfAll } from './analytics-questions.ts'

const silent = pino({ level: 'silent' })
const random = (below: number) => Math.floor(Math.random() * below)

/** Bodies of records, and whether their words are kept. */
interface Shipment {
  readonly amount: number
  readonly text?: (place: number) => string
  readonly wordsUnder?: Uint8Array
}

/** Returns the rows a second that a shipper brings into the database: `amount` of them wait already. */
async function ship({ gatehouse }: Bench, { amount, text = () => 'x', wordsUnder }: Shipment): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-bench-journal-'))
  const journal = openJournal({ directory, maxBodyBytes: 1 << 20, maxSpoolBytes: 1 << 30 })
  const ids = await inDatabase(gatehouse.superuser, async (client) => {
    const found = await client.query<{ id: string; organisation_id: string }>('SELECT id, organisation_id FROM workspaces')
    return found.rows
  })
  for (let place = 0; place < amount; place++) {
    const workspace = ids[random(ids.length)]
    const record = exchangeRecord({
      id: uuidv7(),
      createdAt: Date.now(),
      organisationId: workspace?.organisation_id ?? '',
      workspaceId: workspace?.id ?? '',
      model: `model-${random(12)}`,
      durationMs: 20 + random(8000),
      metadata: { _user: `user-${random(20_000)}`, env: 'env-1' },
    })
    journal.append(record, exchangeBodies(`{"model":"m","messages":[{"role":"user","content":"${text(place)}"}]}`, '{"choices":[]}'))
  }
  const { runtime } = await connect(gatehouse.database, silent)
  const startedAt = performance.now()
  const shipper = startShipper({ directory, database: gatehouse.database, client: runtime, log: silent, wordsUnder: wordsUnder ?? null })
  await shipper.flushed()
  const seconds = (performance.now() - startedAt) / 1000
  await journal.close()
  await shipper.stop()
  rmSync(directory, { recursive: true, force: true })
  return amount / seconds
}

const setTrigger = ({ gatehouse }: Bench, state: 'ENABLE' | 'DISABLE') =>
  inDatabase(gatehouse.superuser, (client) => client.query(`ALTER TABLE logs ${state} TRIGGER logs_usage`))

export interface Ingest {
  readonly without: number
  readonly withRollUps: number
  readonly whileAsked: number
  /** With bodies of a kilobyte, without the index of words and with it. */
  readonly withBodies: number
  readonly withWords: number
  /** The times of graphs and lists meanwhile. */
  readonly meanwhile: Spread
}

const many = 50_000

/** Measures rows a second into the database: with roll-ups, without, and while others ask. */
export async function measureIngest(bench: Bench): Promise<Ingest> {
  await ship(bench, { amount: many / 10 })
  await setTrigger(bench, 'DISABLE')
  const without = await ship(bench, { amount: many })
  await setTrigger(bench, 'ENABLE')
  const withRollUps = await ship(bench, { amount: many })
  const times: number[] = []
  const paths = [...graphsOfAll, () => '/logs?is_success=false']
  const end = again(async (turn) => times.push((await bench.ask(paths[turn % paths.length]?.() ?? '')).ms))
  const whileAsked = await ship(bench, { amount: many })
  await end()
  const text = kilobytes()
  const withBodies = await ship(bench, { amount: many, text })
  const withWords = await ship(bench, { amount: many, text, wordsUnder: randomBytes(32) })
  return { without, withRollUps, whileAsked, withBodies, withWords, meanwhile: spread(times) }
}
