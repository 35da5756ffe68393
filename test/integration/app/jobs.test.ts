import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { runJob, startJobs } from '../../../src/app/jobs.ts'
import { asSystem } from '../../../src/app/database/orm.ts'
import type { Job } from '../../../src/app/feature.ts'
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
const jobOf = (name: string, run: Job['run']): Job => ({ name, every: '* * * * * *', run })

test('of two processes one runs a job, and the lock is free afterwards', async (t) => {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  let runs = 0
  const job = jobOf('exclusive', () => {
    runs += 1
    begun.resolve()
    return gate.promise
  })
  const first = runJob(job, app.deps, { client: client() })
  await begun.promise
  await runJob(job, app.deps, { client: client() })
  t.is(runs, 1)
  gate.resolve()
  await first
  await runJob(job, app.deps, { client: client() })
  t.is(runs, 2)
  const text = await app.deps.metrics.render()
  t.regex(text, /gateway_job_runs_total\{job="exclusive",outcome="done"\} 2/)
  t.regex(text, /gateway_job_runs_total\{job="exclusive",outcome="skipped"\} 1/)
})

test('a job that fails is logged and counted, and nothing else', async (t) => {
  await runJob(
    jobOf('broken', () => Promise.reject(new Error('job fault'))),
    app.deps,
    { client: client() },
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
    { client: client(), stopping: stopping.signal },
  )
  const lost = runJob(
    jobOf('lost', (_, ending) => {
      if (ending !== undefined) begun.resolve(ending)
      return ended(ending)
    }),
    app.deps,
    { client: client() },
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
