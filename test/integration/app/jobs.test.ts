import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { createJobLocks } from '../../../src/app/job-locks.ts'
import { runJob, startJobs } from '../../../src/app/jobs.ts'
import { jobsOf } from '../../../src/app/level/mount.ts'
import { asSystem } from '../../../src/app/database/orm.ts'
import type { Job } from '../../../src/app/feature.ts'
import { features } from '../../../src/features/index.ts'
import { eventually } from '../../support/eventually.ts'
import { startApp, type TestApp } from '../../support/app.ts'

let app: TestApp
test.before(async () => {
  app = await startApp({ env: { ROLES: 'gateway,control' } })
})
test.after.always(() => app.stop())

const client = () => {
  const { host, port, user, password, name } = app.config.database
  return { host, port, user, password: password?.reveal(), database: name }
}
/** The locks of one process. */
const locks = () => createJobLocks(client())
const jobOf = (name: string, run: Job['run']): Job => ({ name, every: '* * * * * *', irreversible: false, run })

test('of two processes one runs a job, and the lock is free afterwards', async (t) => {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  let runs = 0
  const job = jobOf('exclusive', () => {
    runs += 1
    begun.resolve()
    return gate.promise
  })
  const first = runJob(job, app.deps, { locks: locks() })
  await begun.promise
  await runJob(job, app.deps, { locks: locks() })
  t.is(runs, 1)
  gate.resolve()
  await first
  await runJob(job, app.deps, { locks: locks() })
  t.is(runs, 2)
  const text = await app.deps.metrics.render()
  t.regex(text, /gateway_job_runs_total\{job="exclusive",outcome="done"\} 2/)
  t.regex(text, /gateway_job_runs_total\{job="exclusive",outcome="skipped"\} 1/)
})

/** The number of locks that the session of the jobs `together …` holds; 0 if there is none. */
const locksHeld = async () => {
  const [row] = await asSystem(app.deps.orm, (em) =>
    em.execute<{ count: number }[]>(
      `SELECT count(*)::int AS count FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND (classid::bigint << 32 | objid::bigint) IN (SELECT hashtextextended('gatehouse:job:together ' || number, 0) FROM generate_series(0, 19) AS number)
       GROUP BY pid ORDER BY 1`,
    ),
  )
  return row?.count ?? 0
}

test('jobs that run at the same time hold their locks in one connection, which ends with the last of them', async (t) => {
  const gate = Promise.withResolvers<void>()
  const shared = locks()
  let begun = 0
  const jobs = Array.from({ length: 20 }, (_, number) =>
    jobOf(`together ${number}`, () => {
      begun += 1
      return gate.promise
    }),
  )
  const runs = jobs.map((job) => runJob(job, app.deps, { locks: shared }))
  await eventually(() => begun === 20, 30_000)
  t.is(await locksHeld(), 20)
  gate.resolve()
  await Promise.all(runs)
  t.is(await locksHeld(), 0)
  for (const job of jobs.slice(0, 1)) await runJob(job, app.deps, { locks: shared })
  t.is(begun, 21)
})

test('a job that fails is logged and counted, and nothing else', async (t) => {
  await runJob(
    jobOf('broken', () => Promise.reject(new Error('job fault'))),
    app.deps,
    { locks: locks() },
  )
  t.truthy(app.logged.find((line) => line['job'] === 'broken' && line['level'] === 'error'))
  t.regex(await app.deps.metrics.render(), /gateway_job_runs_total\{job="broken",outcome="failed"\} 1/)
})

test('jobs run by their pattern, do not overlap, and are awaited at the end', async (t) => {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  let runs = 0
  const slow = jobOf('slow', () => {
    runs += 1
    begun.resolve()
    return gate.promise
  })
  const jobs = startJobs([slow], app.deps, client())
  await begun.promise
  await sleep(1200)
  t.is(runs, 1)
  let stopped = false
  const stop = jobs.stop(10_000).then(() => (stopped = true))
  await sleep(50)
  t.false(stopped)
  gate.resolve()
  await stop
  t.is(runs, 1)
})

const ended = (ending: AbortSignal | undefined) =>
  new Promise<void>((resolve) => ending?.addEventListener('abort', () => resolve(), { once: true }))

test('a run is told when the process stops, and when it has lost its lock', async (t) => {
  const [stopping, begun] = [new AbortController(), Promise.withResolvers<AbortSignal>()]
  await runJob(
    jobOf('stopped', (_, ending) => {
      stopping.abort()
      t.true(ending?.aborted)
      return Promise.resolve()
    }),
    app.deps,
    { locks: locks(), stopping: stopping.signal },
  )
  const lost = runJob(
    jobOf('lost', (_, ending) => {
      if (ending !== undefined) begun.resolve(ending)
      return ended(ending)
    }),
    app.deps,
    { locks: locks() },
  )
  t.false((await begun.promise).aborted)
  await asSystem(app.deps.orm, (em) =>
    em.execute(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_locks
        WHERE locktype = 'advisory' AND (classid::bigint << 32 | objid::bigint) = hashtextextended('gatehouse:job:lost', 0)
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    ),
  )
  await lost
})

const day = 86_400_000
const allJobs = () => jobsOf(features, app.deps)
const at = (ms: number) => ({ ...app.deps, clock: { now: () => Date.now() + ms } })

for (const [name, ms] of Object.entries({ 'a year ahead': 400 * day, 'a year behind': -400 * day, 'two minutes ahead': 120_000 }))
  test.serial(`while the clock of the process is ${name}, no job deletes or ends anything by its age`, async (t) => {
    const days = async () =>
      (await asSystem(app.deps.orm, (em) => em.execute<object[]>(`SELECT FROM pg_inherits WHERE inhparent = 'logs'::regclass`))).length
    await asSystem(app.deps.orm, (em) =>
      em.execute(`SELECT ensure_log_partitions(current_date), ensure_log_partitions(current_date - 1000)`),
    )
    const before = await days()
    const jobs = allJobs().filter(({ irreversible }) => irreversible)
    t.true(jobs.length >= 15)
    const failed = async () =>
      [...(await app.deps.metrics.render()).matchAll(/gateway_job_runs_total\{job="([^"]+)",outcome="failed"\} (\d+)/g)]
        .filter(([, job]) => jobs.some(({ name: known }) => known === job))
        .reduce((sum, [, , many]) => sum + Number(many), 0)
    const failedBefore = await failed()
    for (const job of jobs) await runJob(job, at(ms), { locks: locks() })
    t.is((await failed()) - failedBefore, jobs.length)
    t.is(await days(), before)
  })

test.serial('a job that deletes goes by the clock of the database', async (t) => {
  const seen: number[] = []
  const job: Job = { ...jobOf('by-database', async ({ clock }) => void seen.push(clock.now())), irreversible: true }
  await runJob(job, at(20_000), { locks: locks() })
  t.true(Math.abs((seen[0] ?? 0) - Date.now()) < 15_000, 'the 20 s of the process do not count')
})

test.serial('what deletes or ends by age says so', (t) => {
  const ends = /drop|forget|prune|delete|expire/
  t.deepEqual(
    allJobs().flatMap(({ name, irreversible }) => (irreversible === ends.test(name) ? [] : [name])),
    [],
  )
})
