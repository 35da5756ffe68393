/** Appends 100 exchanges of 4 kB to a journal of one large segment, and prints their outcome. */
import { openJournal } from '../../src/gateway/journal/journal.ts'
import { exchangeBodies, exchangeRecord } from './journal.ts'

const journal = openJournal({ directory: process.argv[2] ?? '', maxBodyBytes: 1 << 20, maxSpoolBytes: 1 << 26 })
for (let count = 0; count < 100; count += 1) journal.append(exchangeRecord(), exchangeBodies('x'.repeat(4000), null))
console.log(JSON.stringify(journal.stats()))
await journal.close()
