import { pino, type Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { describeError } from './describe-error.ts'
import { openLineBlocks } from './line-blocks.ts'

/** The loggers of a process: JSON lines on stdout, told apart by `log_type`. */
export interface Loggers {
  /** What the process itself does. */
  readonly application: Logger
  /** One line a request, of named fields only; written in blocks, so that a line costs no system call. */
  readonly access: Logger
  /** Resolves when every line has left the process. */
  flush(): Promise<void>
}

const stdout = 1

/** Opens the loggers. `destination` replaces stdout in tests. */
export function createLoggers(config: Pick<Config, 'logLevel' | 'version'>, destination?: NodeJS.WritableStream): Loggers {
  const blocks = destination === undefined ? openLineBlocks({ fd: stdout }) : null
  if (blocks !== null) process.once('exit', () => blocks.flushSync())
  const application = pino({ ...shared(config), redact }, destination ?? pino.destination({ sync: true }))
  const access = pino(shared(config), destination ?? blocks ?? undefined)
  return {
    application: application.child({ log_type: 'application' }),
    access: access.child({ log_type: 'access' }),
    flush: async () => blocks?.flush(),
  }
}

const shared = ({ logLevel, version }: Pick<Config, 'logLevel' | 'version'>) => ({
  level: logLevel,
  base: { service: 'gatehouse', version },
  timestamp,
  formatters: { level: (label: string) => ({ level: label }) },
  serializers: { err: describeError },
})

let stampedAt = 0
let stamp = ''

/** The time as ISO 8601, written once a millisecond. */
function timestamp(): string {
  const now = Date.now()
  if (now === stampedAt) return stamp
  stampedAt = now
  stamp = `,"time":"${new Date(now).toISOString()}"`
  return stamp
}

/** A belt: nobody should log these at all. */
const redact = {
  censor: '[secret]',
  paths: ['authorization', 'cookie', 'password', 'secret', 'token', 'key', 'apiKey', 'credential', 'headers'].flatMap((name) => [
    name,
    `*.${name}`,
  ]),
}
