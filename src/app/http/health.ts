import type { Config } from '../../config/config.ts'
import { apartInWords, databaseTime } from '../database/clock-offset.ts'
import type { Check, HealthReport } from '../health-report.ts'
import type { FrameServices } from './frame.ts'
import type { LiveTls } from './listener/tls.ts'

export interface HealthOptions {
  readonly config: Pick<Config, 'cacheMaxStaleMs'>
  readonly running: () => FrameServices | null
  readonly draining: () => boolean
  readonly tls: LiveTls | null
  /** Returns the step that the start waits for. */
  readonly waitingFor: () => string
}

const pass: Check = { status: 'pass' }
const fail = (detail: string): Check => ({ status: 'fail', detail })
const warn = (detail: string): Check => ({ status: 'warn', detail })
const pingTimeoutMs = 1000
const keepMs = 1000

/**
 * Reports whether this process should get requests. An unreachable database is only a warning as long as the views in memory may serve:
 * were it a failure, a pause of the database would take every replica out at once.
 */
export function createHealth(options: HealthOptions): () => Promise<HealthReport> {
  const database = databaseCheck(options)
  const of = (check: (running: FrameServices) => Check): Check => {
    const running = options.running()
    return running === null ? fail(options.waitingFor()) : check(running)
  }
  return async () => {
    const checks = {
      database: await database.check(),
      ...clockCheck(database.aheadMs()),
      migrations: of(() => pass),
      snapshot: of(({ snapshot }) => (snapshot.ready ? pass : fail('keys and providers cannot be read'))),
      encryption_key: of(({ deps }) => (deps.vault.sealed === null ? pass : fail(deps.vault.sealed))),
      journal: of(({ journal }) => journalCheck(journal)),
      ...(options.tls !== null && { certificate: certificateCheck(options.tls) }),
      ...limitsCheck(options.running()),
      draining: options.draining() ? fail('this process is shutting down') : pass,
    }
    return { ready: Object.values(checks).every(({ status }) => status !== 'fail'), checks }
  }
}

const dayMs = 86_400_000
const soonDays = 7

/** A warning at most: another process would not have a better certificate. */
function certificateCheck(tls: LiveTls): Check {
  const fault = tls.fault()
  if (fault !== null) return warn(`the certificate that is there now is not in use: ${fault}`)
  const [begins, ends] = [tls.certificateBegins(), tls.certificateEnds()]
  if (begins.getTime() > Date.now()) return warn(`the certificate is valid from ${begins.toISOString()} on`)
  if (ends.getTime() < Date.now()) return warn(`the certificate ended at ${ends.toISOString()}`)
  return ends.getTime() - Date.now() < soonDays * dayMs ? warn(`the certificate ends at ${ends.toISOString()}`) : pass
}

/** A warning, since requests are served and logged all the same, from memory, as long as the database takes the log records. */
function journalCheck(journal: FrameServices['journal']): Check {
  const fault = journal?.fault() ?? null
  return journal === null || fault === null
    ? pass
    : { status: 'warn', detail: `log records cannot be written to ${journal.directory}: ${fault}` }
}

/** A warning: requests go on with the leases of the process, and then as `LIMITS_WHEN_UNAVAILABLE` decides. */
const limitsCheck = (running: FrameServices | null): Partial<Pick<HealthReport['checks'], 'limits'>> =>
  running?.limits?.away() === true ? { limits: warn('limits cannot be counted: see LIMITS_WHEN_UNAVAILABLE') } : {}

/** A warning: requests are served, with keys that expire by a clock that may be wrong. */
function clockCheck(aheadMs: number): Partial<Pick<HealthReport['checks'], 'clock'>> {
  const apart = apartInWords(aheadMs)
  return apart === null ? {} : { clock: warn(`${apart}; no data is deleted by its age until they agree`) }
}

interface DatabaseCheck {
  check(): Promise<Check>
  /** By how much the database was ahead of this process when it was asked last. */
  aheadMs(): number
}

/** Asks the database at most once a second, for any number of requests. */
function databaseCheck({ config, running, waitingFor }: HealthOptions): DatabaseCheck {
  let aheadMs = 0
  let askedAt = Number.NEGATIVE_INFINITY
  let lastSeen = performance.now()
  let current: Promise<Answer> = Promise.resolve(null)
  const check = async (): Promise<Check> => {
    const app = running()
    if (app === null) return fail(waitingFor())
    if (performance.now() - askedAt > keepMs) {
      askedAt = performance.now()
      const { clock, orm } = app.deps
      current = answers(async () => {
        const time = await databaseTime(
          (sql) => orm.em.fork().execute<{ ms: number }[]>(sql),
          () => clock.now(),
        )
        aheadMs = time.aheadMs
        const [row] = await orm.em.fork().execute<{ standby: boolean }[]>('SELECT pg_catalog.pg_is_in_recovery() AS standby')
        return row?.standby === true ? 'standby' : 'primary'
      })
    }
    const answer = await current
    if (answer !== null) lastSeen = performance.now()
    if (answer === 'standby') return warn('the database takes no writes: a read-only standby answers')
    if (answer === 'primary') return pass
    // A probe that runs seldom saw the database long ago; the snapshot asks it twice a second.
    const awayMs = Math.round(Math.min(performance.now() - lastSeen, app.snapshot.ageMs()))
    const serves = app.snapshot.ready && awayMs < config.cacheMaxStaleMs
    return { status: serves ? 'warn' : 'fail', detail: `the database has not answered for ${awayMs} ms` }
  }
  return { check, aheadMs: () => aheadMs }
}

/** Null: it does not answer in time. */
type Answer = 'primary' | 'standby' | null

async function answers(ask: () => Promise<Answer>): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>()
  const timer = setTimeout(() => resolve(null), pingTimeoutMs)
  ask().then(resolve, () => resolve(null))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
  }
}
