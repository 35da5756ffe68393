// `gatehouse budget doctor` counts again from the logs, and budgets follow costs that are worked out again.
import { randomUUID } from 'node:crypto'
import test from 'ava'
import { startApp, type TestApp } from '../../support/app.ts'
import { gatehouseHere } from '../../support/cli.ts'
import { inDatabase } from '../../support/database.ts'
import { environment } from '../../support/process.ts'

let app: TestApp
test.before(async () => {
  app = await startApp()
})
test.after.always(() => app?.stop())

const doctor = (...args: readonly string[]) => gatehouseHere(['budget', 'doctor', ...args], { env: environment(app.config.database) })

test('a counter follows adjusted costs; one that differs from the logs is told, and set right only with --repair', async (t) => {
  const counted = () =>
    inDatabase(app.database.superuser, async (client) => {
      const { rows } = await client.query<{ spent: string }>(`SELECT limit_spent('api-key:doctored', 0) AS spent`)
      return Number(rows[0]?.spent) / 1e9
    })
  const key = await inDatabase(app.database.superuser, async (client) => {
    const { rows } = await client.query<{ id: string; organisation_id: string; workspace_id: string }>(
      `UPDATE api_keys SET usage_limits = '{"type": "cost", "credit_limit": 5, "alert_threshold": null, "periodic_reset": null}'
        WHERE workspace_id IS NOT NULL RETURNING id, organisation_id, workspace_id`,
    )
    const [row] = rows
    if (row === undefined) throw new Error('there is no key')
    await client.query(
      `INSERT INTO limit_counters (id, organisation_id, owner_kind, owner_id, counts, counted_from, granted)
       VALUES ('api-key:doctored', $1, 'api-key', $2, 'cost', 0, '{"0": 3000000000}')`,
      [row.organisation_id, row.id],
    )
    await client.query('SELECT ensure_log_partitions(current_date)')
    await client.query(
      `INSERT INTO logs (id, organisation_id, workspace_id, created_at, api_key_id, client_ip, method, path, operation, status, outcome, stream,
         duration_ms, usage_source, retry_count, cache_status, trace_id, request_bytes, response_bytes, cost_pico, budgets)
       VALUES ($1, $2, $3, now(), $4, '::1', 'POST', '/v1/chat/completions', 'chatComplete', 200, 'success', false, 1, 'provider', 0, 'disabled', 't', 1, 1, 3e12,
         '[[0, "api-key:doctored", "0", "3000000000000"]]')`,
      [randomUUID(), row.organisation_id, row.workspace_id, row.id],
    )
    return row
  })
  const sound = await doctor()
  t.is(sound.status, 0, sound.stderr)
  t.is(sound.stdout.trim(), '1 budgets, 0 that differ from the logs.')

  await inDatabase(app.database.superuser, (client) =>
    client.query(
      `INSERT INTO cost_adjustments (organisation_id, workspace_id, recompute_id, log_id, log_created_at, api_key_id, delta_pico, cost_pico, cost_state, lines, budgets)
       VALUES ($1, $2, $3, $4, now(), $5, 2e12, 5e12, 'priced', '[]', '[["api-key:doctored", "0", "2000000000000"]]')`,
      [key.organisation_id, key.workspace_id, randomUUID(), randomUUID(), key.id],
    ),
  )
  t.is(await counted(), 5)
  t.is((await doctor()).status, 0, 'logs and adjustments make what was counted')
  const told = await inDatabase(app.database.superuser, (client) =>
    client.query(`SELECT 1 FROM limit_alerts WHERE owner_id = $1 AND kind = 'exhausted'`, [key.id]),
  )
  t.is(told.rows.length, 1, 'the adjustment exhausted the budget')

  await inDatabase(app.database.superuser, (client) =>
    client.query(`UPDATE limit_counters SET granted = '{"0": 4500000000}' WHERE id = 'api-key:doctored'`),
  )
  const found = await doctor()
  t.is(found.status, 1, found.stderr)
  t.true(found.stdout.startsWith('api-key:doctored: $4.5 counted, $5 in the logs\n'), found.stdout)
  t.is(await counted(), 4.5, 'nothing was repaired')
  const repaired = await doctor('--repair', '--json')
  t.is(repaired.status, 0, repaired.stderr)
  t.like(JSON.parse(repaired.stdout), { differences: [{ counter: 'api-key:doctored', logged: 5, repaired: true }] })
  t.is(await counted(), 5)

  await inDatabase(app.database.superuser, (client) =>
    client.query(`UPDATE limit_counters SET granted = '{"0": 1}', begun_at = '2020-01-01' WHERE id = 'api-key:doctored'`),
  )
  t.is((await doctor('--repair')).stdout.trim(), '1 budgets, 0 that differ from the logs; 1 left out, whose logs are no longer all kept.')
})
