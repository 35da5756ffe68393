// Starts the embedded PostgreSQL of the folder given and stays, to be killed by a test.
import pino from 'pino'
import { startEmbedded } from '../../src/app/database/embedded/embedded.ts'

const [, , dataDir = ''] = process.argv
const database = await startEmbedded({ dataDir, log: pino({ level: 'silent' }) })
process.stdout.write(`${database.port}\n`)
process.once('SIGTERM', () => void database.stop())
