// Migrates the database given as JSON and kills itself without a word before the statement given.
import { migrate } from '../../src/app/database/schema/migrate.ts'
import pino from 'pino'

const [, , client = '', killAt = ''] = process.argv
let seen = 0

await migrate(JSON.parse(client), pino({ level: 'silent' }), {
  onStatement: () => {
    if (seen === Number(killAt)) process.kill(process.pid, 'SIGKILL')
    seen += 1
  },
})
