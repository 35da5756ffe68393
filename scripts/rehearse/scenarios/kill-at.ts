// Preloaded into a process, it counts the queries to PostgreSQL, and kills the process without a word when the one of GATEHOUSE_KILL_AT has been
// sent: a number, or a text that it begins with. Without that, it prints the count at the end.
import pg from 'pg'

const killAt = process.env['GATEHOUSE_KILL_AT'] ?? null
const query: unknown = Reflect.get(pg.Client.prototype, 'query')
let sent = 0

pg.Client.prototype.query = function counted(this: pg.Client, ...args: unknown[]) {
  const result: unknown = typeof query === 'function' ? Reflect.apply(query, this, args) : undefined
  sent += 1
  if (killAt !== null && (String(sent) === killAt || (typeof args[0] === 'string' && args[0].startsWith(killAt))))
    process.kill(process.pid, 'SIGKILL')
  return result
} as typeof pg.Client.prototype.query

if (killAt === null) process.once('exit', () => process.stderr.write(`queries sent: ${sent}\n`))
