/**
 * A process that appends to its journal, ships, and sends its parent the id of each record once `append` has returned, until it is killed. Started
 * with one argument: JSON of a data directory and of how to reach the database.
 */
import { writeSync } from 'node:fs'
import type { ClientConfig } from 'pg'
import { startShipper } from '../../src/app/journal/shipper.ts'
import { loadConfig } from '../../src/config/index.ts'
import { openJournal } from '../../src/gateway/journal/journal.ts'
import { createLogSeal } from '../../src/gateway/journal/log-seal.ts'
import { silent } from './database.ts'
import { exchangeBodies, exchangeRecord } from './journal.ts'

interface Input {
  readonly directory: string
  readonly client: ClientConfig
  /** The key in base64; absent: records are not sealed. */
  readonly logKey?: string
}

const { directory, client, logKey } = JSON.parse(process.argv[2] ?? '') as Input
const { database } = loadConfig({
  DB_HOST: client.host,
  DB_USER: client.user,
  DB_NAME: client.database,
  DB_SSL: 'DISABLED',
  ENCRYPTION_KEY: 'A'.repeat(43) + '=',
})
const journal = openJournal({
  directory,
  maxBodyBytes: 1 << 20,
  maxSpoolBytes: 1 << 28,
  seal: logKey === undefined ? null : createLogSeal(Buffer.from(logKey, 'base64')),
})
startShipper({ directory, database, client, log: silent })

setInterval(() => {
  const records = Array.from({ length: 10 }, () => exchangeRecord())
  for (const record of records) journal.append(record, exchangeBodies('q'.repeat(500), 'a'.repeat(8000)))
  acknowledge(records.map(({ id }) => `${id}\n`).join(''))
}, 1)

/** The pipe may be full for a moment. */
function acknowledge(text: string): void {
  for (let rest = Buffer.from(text); rest.length > 0;) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
    }
  }
}
