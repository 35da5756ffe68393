import test from 'ava'
import fc from 'fast-check'
import { forgetUsage } from '../../../src/features/analytics/analytics.jobs.ts'
import { expireOfWorkspaces } from '../../../src/features/logs/workspace-retention.ts'
import { uuidv7 } from '../../../src/lib/uuid.ts'
import { dataOf } from './answers.ts'
import { startUsed, usedRecord, type UsedControl } from './used-control.ts'

let used: UsedControl
test.before(async () => void (used = await startUsed()))
test.after.always(() => used.close())

const sql = <Row extends Record<string, unknown>>(text: string, values: readonly unknown[] = []) =>
  used.control.sql.query<Row>(text, [...values]).then(({ rows }) => rows)

const zeros = '00000000-0000-0000-0000-000000000000'
const ones = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The figures of the logs, in the shape of the sums. */
const counted = `
  SELECT organisation_id, date_trunc('day', created_at, 'UTC') AS bucket, CASE WHEN grouping(workspace_id) = 1 THEN '${ones}' ELSE coalesce(workspace_id, '${zeros}') END::uuid AS place,
         metadata ->> '_user' AS name, count(*) AS requests,
         sum(coalesce(cost_pico, 0) + coalesce((SELECT sum(delta_pico) FROM cost_adjustments a WHERE a.log_id = l.id), 0)) AS cost_pico
    FROM logs l WHERE metadata ->> '_user' IS NOT NULL
   GROUP BY GROUPING SETS ((organisation_id, 2, workspace_id, 4), (organisation_id, 2, 4)) ORDER BY 1, 2, 3, 4`
const summed = 'SELECT organisation_id, bucket, place, name, requests, cost_pico FROM usage_user_sums ORDER BY 1, 2, 3, 4'

const groups = async (query: Readonly<Record<string, string>> = {}) => {
  const answer = await used.control.call(
    used.acme.adminKey,
    'GET',
    `/analytics/groups/users?${new URLSearchParams({ page_size: '100', ...query }).toString()}`,
  )
  if (answer.status !== 200) throw new Error(answer.text)
  return answer
}

test.serial('sums of users are what the logs say: adjusted, late, repeated, erased and expired ones included', async (t) => {
  const late = { ...usedRecord(used.acme, used.ada.userId, 100), id: uuidv7(Date.now() - 370_000_000), metadata: { _user: 'ada' } }
  await used.ship([late, usedRecord(used.acme, used.ada.userId, 3), { ...usedRecord(used.acme, used.ada.userId, 5), workspaceId: null }])
  await sql('INSERT INTO logs SELECT * FROM logs ON CONFLICT DO NOTHING')
  await sql(
    `INSERT INTO cost_adjustments (organisation_id, recompute_id, log_id, log_created_at, delta_pico, cost_pico, cost_state, lines)
     SELECT organisation_id, gen_random_uuid(), id, created_at, 17, 0, 'priced', '[]' FROM logs`,
  )
  t.true((await sql(counted)).length > 50)
  t.deepEqual(await sql(summed), await sql(counted))
  const erased = await used.control.call(used.acme.adminKey, 'POST', '/logs/erasures', { metadata: { _user: 'u3' } })
  t.true(Number(erased.body['erased']) > 5, erased.text)
  t.deepEqual(await sql(summed), await sql(counted))
  t.deepEqual(await sql(`SELECT FROM usage_user_sums WHERE name = 'u3' AND organisation_id = $1`, [used.acme.organisationId]), [])
  const before = await sql(counted)
  await sql('UPDATE workspaces SET log_retention_days = 3 WHERE id = $1', [used.acme.sideId])
  await expireOfWorkspaces(used.control.started.deps)
  t.true((await sql(counted)).length < before.length)
  t.deepEqual(await sql(summed), await sql(counted))
})

const figures = (rows: readonly Readonly<Record<string, unknown>>[]) =>
  rows
    .map(({ user, requests, cost }) => [user, requests, Number(cost).toPrecision(10)])
    .toSorted((one, other) => String(one[0]).localeCompare(String(other[0])))

test.serial('groups of users of any time and workspace are what a plain reading of the logs says', async (t) => {
  const hour = 3_600_000
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 170 }),
      fc.integer({ min: 0, max: 170 }),
      fc.constantFrom(undefined, 'main', 'side'),
      async (from, length, workspace) => {
        const [min, max] = [Date.now() - (from + length) * hour, Date.now() - from * hour].map((ms) => new Date(ms).toISOString()) as [
          string,
          string,
        ]
        const answer = await groups({
          time_of_generation_min: min,
          ...(from > 0 && { time_of_generation_max: max }),
          ...(workspace !== undefined && { workspace_slug: workspace }),
        })
        const plain = await sql<{ user: string; requests: string; cost: string }>(
          `SELECT metadata ->> '_user' AS user, count(*)::text AS requests,
                  ((coalesce(sum(cost_pico), 0) + coalesce(sum((SELECT sum(delta_pico) FROM cost_adjustments a WHERE a.log_id = l.id)), 0)) / 1e10)::float8::text AS cost
             FROM logs l LEFT JOIN workspaces w ON w.id = l.workspace_id
            WHERE l.organisation_id = $1 AND metadata ->> '_user' IS NOT NULL AND l.created_at >= $2 AND l.created_at <= $3 AND ($4::text IS NULL OR w.slug = $4) GROUP BY 1`,
          [used.acme.organisationId, min, from > 0 ? max : '9999-01-01', workspace ?? null],
        )
        t.deepEqual(figures(dataOf(answer)), figures(plain))
        t.is(answer.body['total'], plain.length)
        t.is(answer.body['sampled'], undefined)
      },
    ),
    { numRuns: 40, seed: 3 },
  )
})

const first = async (query = {}) => Number(dataOf(await groups(query))[0]?.['requests'])

test.serial('whole days come from the sums; with another filter, or for those who see their own data alone, logs are read', async (t) => {
  const [all, filtered] = [await first(), await first({ status_code: '200' })]
  await sql(`UPDATE usage_user_sums SET requests = requests + 1000 WHERE bucket = date_trunc('day', now(), 'UTC') - interval '2 days'`)
  t.true((await first()) >= 1000 && all < 1000)
  t.is(await first({ status_code: '200' }), filtered)
  await used.ship([{ ...usedRecord(used.acme, used.ada.userId, 0), metadata: { _user: 'of-today' } }])
  await sql(`UPDATE usage_user_sums SET requests = requests + 5000 WHERE bucket = date_trunc('day', now(), 'UTC') AND name = 'of-today'`)
  t.is(await first(), 5001)
  const { adminKey, sideId } = used.acme
  await used.ship([
    { ...usedRecord(used.acme, used.ada.userId, 30), userId: used.ada.userId, workspaceId: sideId, metadata: { _user: 'of-ada' } },
  ])
  await used.control.call(adminKey, 'PUT', '/admin/organisation', { settings: { membersViewAllData: false } })
  await used.control.refresh()
  const own = dataOf(await used.control.call(used.ada.key, 'GET', '/analytics/groups/users'))
  t.deepEqual(
    own.map(({ user, requests }) => [user, requests]),
    [['of-ada', '1']],
  )
})

const days = async () => (await sql('SELECT DISTINCT bucket FROM usage_user_sums')).length

test.serial('sums are forgotten with the logs of their day', async (t) => {
  const { deps } = used.control.started
  const before = await days()
  await forgetUsage.run(deps)
  t.is(await days(), before)
  await forgetUsage.run({ ...deps, config: { ...deps.config, logRetentionDays: 2 } })
  t.is(await days(), 3)
})
