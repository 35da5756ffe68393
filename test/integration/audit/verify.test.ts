import test from 'ava'
import type { Client } from 'pg'
import { verifyAudit } from '../../../src/app/audit/verify.ts'
import { gatehouseHere } from '../../support/cli.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { inDatabase } from '../../support/database.ts'
import { sendJson } from '../../support/http.ts'
import { environment } from '../../support/process.ts'

let app: TestApp
test.before(async () => {
  app = await startApp()
  const create = (name: string) =>
    sendJson(`${app.baseUrl}/v1/api-keys/organisation/service`, { 'x-service-api-key': app.adminKey }, { name, scopes: ['logs.list'] })
  await Promise.all(Array.from({ length: 20 }, (_, at) => create(`key ${at}`)))
})
test.after.always(() => app.stop())

const gatehouse = (...args: readonly string[]) => gatehouseHere(args, { env: environment(app.config.database) })

test.serial('the command proves a chain, and that it goes through an anchor', async (t) => {
  const proof = await gatehouse('audit', 'verify')
  t.is(proof.status, 0, proof.stderr)
  const [, anchor = ''] = /^default-organisation: 20 rows hold, anchor (20:[0-9a-f]{64})\n$/.exec(proof.stdout) ?? []
  const again = await gatehouse('audit', 'verify', '--organisation', 'default-organisation', '--anchor', anchor, '--json')
  t.is(again.status, 0, again.stderr)
  t.like(JSON.parse(again.stdout), [{ slug: 'default-organisation', rows: 20, faults: [] }])
})

/** Makes a change to the trail that only the owner of the database can make, looks at the findings, and undoes it. */
const tampered = async (statement: string, anchor?: { seq: number; hash: string }) => {
  const change = (client: Client) => client.query(`SET session_replication_role = replica; ${statement}`)
  await inDatabase(app.database.superuser, async (client) => {
    await client.query('CREATE TABLE kept AS TABLE audit_logs; CREATE TABLE kept_heads AS TABLE audit_heads')
    await change(client)
  })
  const [report] = await verifyAudit(app.deps, { anchor: anchor ?? null })
  await inDatabase(app.database.superuser, (client) =>
    client.query(`SET session_replication_role = replica; DELETE FROM audit_logs; INSERT INTO audit_logs SELECT * FROM kept;
      DELETE FROM audit_heads; INSERT INTO audit_heads SELECT * FROM kept_heads; DROP TABLE kept, kept_heads`),
  )
  return report?.faults ?? ['no report']
}

const cases: readonly (readonly [what: string, statement: string, fault: RegExp])[] = [
  ['nothing', 'SELECT 1', /^$/],
  ['another actor', `UPDATE audit_logs SET actor_id = gen_random_uuid() WHERE seq = 3`, /^row 3 \(.*was changed/],
  ['another time', `UPDATE audit_logs SET at = at + interval '1 ms' WHERE seq = 3`, /^row 3 \(.*was changed/],
  ['a word in what was after', `UPDATE audit_logs SET after = after || '{"name":"x"}' WHERE seq = 20`, /^row 20 \(.*was changed/],
  ['what was sent taken away', `UPDATE audit_logs SET request_body = NULL WHERE seq = 1`, /^row 1 \(.*was changed/],
  ['a row taken away', `DELETE FROM audit_logs WHERE seq = 7`, /^row 7 is missing/],
  ['the first rows taken away', `DELETE FROM audit_logs WHERE seq < 4`, /^the rows 1 to 3 are missing/],
  ['the last row taken away', `DELETE FROM audit_logs WHERE seq = 20`, /^the chain ends at row 19, it had reached row 20$/],
  [
    'a row taken away and the rest moved up',
    `DELETE FROM audit_logs WHERE seq = 7; UPDATE audit_logs SET seq = 0 - seq WHERE seq > 7; UPDATE audit_logs SET seq = 0 - seq - 1 WHERE seq < 0`,
    /^row 7 \(.*was changed/,
  ],
  [
    'two rows swapped',
    `UPDATE audit_logs SET seq = 0 - seq WHERE seq IN (4, 5); UPDATE audit_logs SET seq = 9 + seq WHERE seq < 0`,
    /^row 4 \(.*was changed/,
  ],
  ['a row in no chain', `UPDATE audit_logs SET seq = NULL WHERE seq = 2`, /^the row .* is in no chain/],
  [
    'a forged row',
    `CREATE TEMP TABLE forged AS SELECT * FROM audit_logs WHERE seq = 20; UPDATE forged SET id = gen_random_uuid(), seq = 21;
     INSERT INTO audit_logs SELECT * FROM forged; UPDATE audit_heads SET seq = 21`,
    /^row 21 \(.*was changed/,
  ],
]
for (const [what, statement, fault] of cases)
  test.serial(`found: ${what}`, async (t) => {
    t.regex((await tampered(statement))[0] ?? '', fault)
  })

test.serial('a chain that was cut back together with its head misses its anchor', async (t) => {
  const [whole] = await verifyAudit(app.deps)
  const cut = `DELETE FROM audit_logs WHERE seq > 15; UPDATE audit_heads SET seq = 15, hash = (SELECT hash FROM audit_logs WHERE seq = 15)`
  t.deepEqual(await tampered(cut), [])
  t.deepEqual(await tampered(cut, whole?.head ?? undefined), ['the anchor names row 20, the chain ends at row 15'])
})

test.serial('the command says what is wrong and fails', async (t) => {
  await inDatabase(app.database.superuser, (client) =>
    client.query(`SET session_replication_role = replica; DELETE FROM audit_logs WHERE seq = 7`),
  )
  const proof = await gatehouse('audit', 'verify')
  t.is(proof.status, 1)
  t.regex(proof.stdout, /^default-organisation: row 7 is missing/)
  t.regex(proof.stderr, /the audit trail does not hold/)
  t.is((await gatehouse('audit', 'verify', '--organisation', 'nobody')).status, 1)
  t.is((await gatehouse('audit', 'verify', '--anchor', 'x')).status, 2)
})

test.serial('the process itself changes and deletes no row', async (t) => {
  for (const statement of [`UPDATE audit_logs SET action = 'x'`, `DELETE FROM audit_logs`]) {
    const error = await t.throwsAsync(inDatabase(app.database.superuser, (client) => client.query(statement)))
    t.regex(error.message, /never changed or deleted/)
  }
})
