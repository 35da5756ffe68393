// The amounts of usage-limit policies become whole numbers in 1.11.0, and the decimal columns go with 1.12.0: the first migration of the
// product that expands, fills and contracts. Processes of both kinds of release share one database here, each with its own columns.
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import type { ClientConfig } from 'pg'
import { buildCut, thisBuild, type Build } from '../../../scripts/rehearse/build.ts'
import { mustRun, runCommand, serve } from '../../../scripts/rehearse/command.ts'
import { readTable } from '../../../src/app/level/release-records.ts'
import { findRelease } from '../../../src/release/table.ts'
import { manage } from '../../support/admin.ts'
import { root } from '../../support/cli.ts'
import { inDatabase, testDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { environment, type Gatehouse } from '../../support/process.ts'

const fills = ['v01.11.00/002-fill-policy-amounts', 'v01.11.00/003-fill-usage-amounts']
const contract = 'v01.12.00/002-drop-decimal-amounts'
const values = 1500

const rowsOf = async <Row extends object>(client: ClientConfig, sql: string, ...parameters: unknown[]) =>
  (await inDatabase(client, (connected) => connected.query<Row>(sql, parameters))).rows

const policy = (name: string, fields: object) => ({
  name,
  conditions: [{ key: 'model', value: 'gpt-4o' }],
  group_by: [{ key: 'api_key' }],
  type: 'cost',
  ...fields,
})

interface Shown {
  readonly id: string
  readonly name: string
  readonly credit_limit: number
  readonly alert_threshold: number | null
}

async function make({ origin }: Gatehouse, name: string, fields: object): Promise<string> {
  const [workspace] = (await manage(origin, 'GET', '/workspaces'))['data'] as readonly { readonly id: string }[]
  const { id } = await manage(origin, 'POST', '/policies/usage-limits', { ...policy(name, fields), workspace_id: workspace?.id })
  return String(id)
}
const change = ({ origin }: Gatehouse, id: string, fields: object) => manage(origin, 'PUT', `/policies/usage-limits/${id}`, fields)
const listed = async ({ origin }: Gatehouse, query = '') =>
  ((await manage(origin, 'GET', `/policies/usage-limits?page_size=100${query}`))['data'] as readonly Shown[]) ?? []

type Amounts = readonly [name: string, limit: number, alert: number | null]
const byName = ([one]: Amounts, [other]: Amounts) => (one < other ? -1 : 1)

/** Name, limit and alert of every policy. */
const amountsOf = async (gatehouse: Gatehouse) =>
  (await listed(gatehouse))
    .map(({ name, credit_limit, alert_threshold }) => [name, credit_limit, alert_threshold] as const)
    .toSorted(byName)

/** The names in the order of their limits, read in pages of two behind a cursor. */
async function inOrder({ origin }: Gatehouse): Promise<readonly string[]> {
  const names: string[] = []
  for (let after: unknown = ''; typeof after === 'string';) {
    const page = await manage(origin, 'GET', `/policies/usage-limits?sort=credit_limit&page_size=2${after === '' ? '' : `&after=${after}`}`)
    names.push(...(page['data'] as readonly Shown[]).map(({ name }) => name))
    after = page['next_cursor']
  }
  return names
}

async function cutBefore(version: string): Promise<Build> {
  const release = findRelease(readTable(root), version)
  if (release === null) throw new Error(`there is no ${version}`)
  return buildCut(release)
}

test('amounts: old and new columns in step, back and forth, filled in spite of kill -9, and removed by finalize', async (t) => {
  t.timeout(300_000)
  const [database, old, current] = await Promise.all([testDatabase({ empty: true }), cutBefore('1.10.0'), thisBuild()])
  const running = new Set<Gatehouse>()
  t.teardown(async () => {
    await Promise.all(Array.from(running, (gatehouse) => gatehouse.stop()))
    await Promise.all([old.remove(), database.drop()])
  })
  const on = { on: database }
  const env = environment(database.config)
  const start = async (build: Build, roles = 'control') => {
    const gatehouse = await serve(build, { ...on, env: { LOG_LEVEL: 'warn', ROLES: roles } })
    running.add(gatehouse)
    return gatehouse
  }
  const end = async (gatehouse: Gatehouse) => {
    await gatehouse.stop()
    running.delete(gatehouse)
  }
  const verdict = async (to: string) => (await runCommand(['rollback-check', to], { env })).code

  // 1.10.0 has decimals only.
  await mustRun(old, ['migrate'], env)
  const former = await start(old)
  const first = await make(former, 'first', { credit_limit: 12.000000001, alert_threshold: 0.1 })
  const second = await make(former, 'second', { credit_limit: 5, alert_threshold: 4 })
  await make(former, 'tokens', { type: 'tokens', credit_limit: 99_999_999_999 })
  await rowsOf(
    database.superuser,
    `INSERT INTO usage_limit_policy_entities (id, organisation_id, workspace_id, policy_id, value_key, current_usage)
       SELECT gen_random_uuid(), organisation_id, workspace_id, id, 'api_key:' || n, n + 0.000000001 FROM usage_limit_policies, generate_series(1, ${values}) n WHERE id = $1`,
    first,
  )

  // 1.12.0 migrates and serves beside it, before anything is filled.
  await mustRun(current, ['migrate'], env)
  const next = await start(current)
  const before = await amountsOf(former)
  t.deepEqual(before, [
    ['first', 12.000000001, 0.1],
    ['second', 5, 4],
    ['tokens', 99_999_999_999, null],
  ])
  t.deepEqual(await amountsOf(next), before)
  const usage = await manage(next.origin, 'GET', `/policies/usage-limits/${first}/entities?page_size=2&sort=-current_usage`)
  t.like(usage, { data: [{ current_usage: values + 0.000000001 }, { current_usage: values - 1 + 0.000000001 }] })

  // Each sees the other's writes, in rows that are filled and in rows that are not.
  await make(next, 'third', { credit_limit: 7.5, alert_threshold: 0.000000001 })
  await make(former, 'fourth', { credit_limit: 0.25 })
  await change(next, first, { alert_threshold: null })
  await change(former, second, { credit_limit: 6 })
  const both = [
    ['first', 12.000000001, null],
    ['fourth', 0.25, null],
    ['second', 6, 4],
    ['third', 7.5, 0.000000001],
    ['tokens', 99_999_999_999, null],
  ]
  t.deepEqual(await amountsOf(former), both)
  t.deepEqual(await amountsOf(next), both)
  t.deepEqual(await inOrder(next), ['fourth', 'second', 'third', 'first', 'tokens'])

  // Back to 1.10.0, which goes on over the schema of 1.12.0, and forward again.
  t.is(await verdict('1.10.0'), 0)
  await end(next)
  await change(former, first, { credit_limit: 1.5 })
  t.deepEqual((await amountsOf(former))[0], ['first', 1.5, null])
  const again = await start(current)
  t.deepEqual((await amountsOf(again))[0], ['first', 1.5, null])

  // The backfill goes on where SIGKILL left it.
  const progress = async () => {
    const [row] = await rowsOf<{ done: boolean; processed: number }>(
      database.superuser,
      'SELECT bool_and(done) AS done, sum(processed)::int AS processed FROM backfill_state WHERE id = ANY ($1)',
      fills,
    )
    return row ?? { done: false, processed: 0 }
  }
  await rowsOf(database.superuser, 'UPDATE backfill_state SET rate = 300 WHERE id = $1', fills[1])
  const filler = await start(current, 'jobs')
  await eventually(async () => (await progress()).processed >= 300, 20_000, 'the first batches')
  await filler.signal('SIGKILL')
  running.delete(filler)
  const { done, processed } = await progress()
  t.true(!done && processed < values, `${processed}`)
  await rowsOf(database.superuser, 'UPDATE backfill_state SET rate = 100000')
  const successor = await start(current, 'jobs')
  await eventually(async () => (await progress()).done, 20_000, 'the backfill')
  t.is((await progress()).processed, values + 5)
  t.deepEqual(
    await rowsOf(
      database.superuser,
      `SELECT count(*)::int AS n, sum(current_usage_pico)::text AS pico FROM usage_limit_policy_entities WHERE current_usage_pico = current_usage * 1e12`,
    ),
    [{ n: values, pico: String(BigInt((values * (values + 1)) / 2) * 10n ** 12n + BigInt(values) * 1000n) }],
  )
  await end(successor)

  // Finalize removes the decimals under a process that reads all the time.
  await end(former)
  const held = { reading: true }
  const reads = (async () => {
    const seen: unknown[] = []
    while (held.reading) {
      seen.push((await amountsOf(again)).length)
      await sleep(10)
    }
    return seen
  })()
  await mustRun(current, ['finalize'], env)
  held.reading = false
  t.true((await reads).every((count) => count === both.length))
  t.deepEqual((await amountsOf(again))[0], ['first', 1.5, null])
  await change(again, first, { credit_limit: 0.000000001 })
  t.deepEqual((await amountsOf(again))[0], ['first', 0.000000001, null])
  t.deepEqual(
    await rowsOf(
      database.superuser,
      `SELECT column_name FROM information_schema.columns WHERE table_name LIKE 'usage_limit_polic%' AND column_name IN ('credit_limit', 'alert_threshold', 'current_usage')`,
    ),
    [],
  )
  t.is((await rowsOf(database.superuser, 'SELECT id FROM schema_migrations WHERE id = $1', contract)).length, 1)

  // A part that only the decimals held cannot come back.
  t.is(await verdict('1.10.0'), 1)
  const refused = await runCommand(['serve'], { env: { ...env, PORT: '0' }, build: old.folder })
  t.is(refused.code, 78)
  t.regex(refused.stdout + refused.stderr, /release_too_old/)
})
