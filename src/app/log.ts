import { pino, type Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { describeError } from './describe-error.ts'

/** The loggers of a process: JSON lines on stdout, told apart by `log_type`. */
export interface Loggers {
  /** What the process itself does. */
  readonly application: Logger
  /** One line a request, of named fields only; written in blocks, so that a line costs no system call. */
  readonly access: Logger
  flush(): void
}

const flushEveryMs = 200

/** Opens the loggers. `destination` replaces stdout in tests. */
export function createLoggers(config: Pick<Config, 'logLevel' | 'version'>, destination?: NodeJS.WritableStream): Loggers {
  const blocks = destination ?? pino.destination({ sync: false, minLength: 32 * 1024, maxWrite: 64 * 1024, periodicFlush: flushEveryMs })
  const application = pino({ ...shared(config), redact }, destination ?? pino.destination({ sync: true }))
  const access = pino(shared(config), blocks)
  return {
    application: application.child({ log_type: 'application' }),
    access: access.child({ log_type: 'access' }),
    flush: () => access.flush(),
  }
}

const shared = ({ logLevel, version }: Pick<Config, 'logLevel' | 'version'>) => ({
  level: logLevel,
  base: { service: 'gatehouse', version },
  timestamp: () => `,"time":"${new Date().toISOString()}"`,
  formatters: { level: (label: string) => ({ level: label }) },
  serializers: { err: describeError },
})

/** A belt: nobody should log these at all. */
const redact = {
  censor: '[secret]',
  paths: ['authorization', 'cookie', 'password', 'secret', 'token', 'key', 'apiKey', 'credential', 'headers'].flatMap((name) => [
    name,
    `*.${name}`,
  ]),
}
