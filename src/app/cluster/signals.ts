import type { Logger } from 'pino'
import type { DrainOptions } from '../start/app-state.ts'

/** How long a process that met a bug may go on, in milliseconds: long enough to flush, too short to be a zombie. */
const faultGraceMs = 3_000

/**
 * A stop of the whole process group reaches us twice: from the system, and from npm or a shell above us that passes it on. A signal this
 * soon after the one before is the same stop.
 */
const sameStopMs = 2_000

/**
 * Resolves with the exit code when the process has ended in order: 0 after SIGTERM or SIGINT, 1 after an uncaught error. A second signal ends at
 * once, unless it is the first one once more.
 */
export function onSignals(log: Logger, drain: (options?: DrainOptions) => Promise<void>): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const end = (code: number, options: DrainOptions) =>
    drain(options).then(
      () => resolve(code),
      (error: unknown) => {
        log.fatal({ err: error }, 'the process did not end in order')
        resolve(1)
      },
    )
  let signals = 0
  let heardAt = Number.NEGATIVE_INFINITY
  const onSignal = (signal: NodeJS.Signals) => {
    const repeated = performance.now() - heardAt < sameStopMs
    if (!repeated) {
      signals += 1
      heardAt = performance.now()
    }
    log.info({ signal, now: signals > 1, repeated }, 'signal received')
    if (repeated) return
    if (signals > 2) process.exit(1)
    void end(0, { now: signals > 1 })
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  onFault(log, () => {
    setTimeout(() => resolve(1), faultGraceMs)
    void end(1, { now: true })
  })
  return promise
}

/** Calls `end` once after an uncaught error: the state of the process is then unknown, so it must not go on. */
export function onFault(log: Logger, end: () => void): void {
  let ending = false
  const fail = (error: unknown) => {
    log.fatal({ err: error }, 'an uncaught error')
    if (!ending) end()
    ending = true
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
}
