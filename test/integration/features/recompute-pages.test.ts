// A recompute of many logs: every page costs as much as its own logs, and all pages together have each log once.
import { randomUUID } from 'node:crypto'
import test from 'ava'
import { type Control, startControl, type Tenant } from './setup.ts'

let control: Control
const count = 12_000
const day = '2026-05-01'

/** Ids that contain the time, as those of requests do, and ids that contain another. */
const idOf = {
  telling: `(lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(md5($1::text || n), 1, 3) || 'a' || substr(md5($1::text || n), 4, 15))::uuid`,
  other: 'gen_random_uuid()',
} as const

test.before(async () => {
  control = await startControl()
})
test.after.always(() => control?.close())

async function fill(kind: keyof typeof idOf, { organisationId, workspaceId }: Tenant, logs: number): Promise<void> {
  await control.sql.query('SELECT ensure_log_partitions($1::date)', [day])
  await control.sql.query(
    `INSERT INTO logs (id, organisation_id, workspace_id, created_at, api_key_id, client_ip, method, path, operation, provider, model, status, outcome, stream,
                       duration_ms, usage_source, retry_count, cache_status, trace_id, request_bytes, response_bytes, cost_pico, cost_state)
     SELECT ${idOf[kind]}, $1::uuid, $2, at, $3, '::1', 'POST', '/v1/chat/completions', 'chatComplete', 'openai', 'gpt-4o', 200, 'complete', false,
            1, 'provider', 0, 'MISS', n::text, 1, 1, 1, 'priced'
       FROM (SELECT n, $4::timestamptz + make_interval(secs => n / 100) AS at FROM generate_series(1, $5) n) made`,
    [organisationId, workspaceId, randomUUID(), `${day}T00:00:00Z`, logs],
  )
  await control.sql.query('ANALYZE logs')
}

interface Page {
  readonly requests: number
  readonly next_after: string | null
  readonly has_more: boolean
}

const range = { start: `${day}T00:00:00Z`, end: '2026-05-02T00:00:00Z' }

for (const kind of ['telling', 'other'] as const)
  test.serial(`pages of logs whose ids are ${kind} have each of them once, in their order`, async (t) => {
    const tenant = await control.createTenant(kind)
    await fill(kind, tenant, count)
    let after: string | null = null
    let seen = 0
    const ms: number[] = []
    do {
      const begun = performance.now()
      const { status, text, body } = await control.call(tenant.adminKey, 'POST', '/costs/recompute', {
        ...range,
        limit: 1000,
        ...(after !== null && { after }),
      })
      ms.push(performance.now() - begun)
      t.is(status, 200, text)
      const page = body as unknown as Page
      seen += page.requests
      after = page.next_after
    } while (after !== null)
    t.is(seen, count)
    t.log(ms.map(Math.round).join(' '))
  })

const median = (all: readonly number[]): number => all.toSorted((one, other) => one - other)[Math.floor(all.length / 2)] ?? 0

test.serial('a page costs the same in a range with twenty times the logs', async (t) => {
  const [few, many] = await Promise.all([control.createTenant('few'), control.createTenant('many')])
  await fill('telling', few, 600)
  await fill('telling', many, count)
  const took = { few: [] as number[], many: [] as number[] }
  for (let at = 0; at < 9; at += 1)
    for (const [name, tenant] of [
      ['few', few],
      ['many', many],
    ] as const) {
      const begun = performance.now()
      t.is((await control.call(tenant.adminKey, 'POST', '/costs/recompute', { ...range, limit: 100 })).status, 200)
      took[name].push(performance.now() - begun)
    }
  const [one, other] = [median(took.few), median(took.many)]
  t.true(other < one * 6, `${Math.round(one)} and ${Math.round(other)} ms`)
})
