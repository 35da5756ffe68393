import { generateKeyPairSync } from 'node:crypto'
import test from 'ava'
import type { Client } from 'pg'
import { linkHash, redactionProof, type AuditRow } from '../../../src/app/audit/chain.ts'
import { readLinks } from '../../../src/app/audit/links.ts'
import { verifyAudit } from '../../../src/app/audit/verify.ts'
import { asSystem } from '../../../src/app/database/orm.ts'
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
  for (let at = 0; at < rows; at += 1) await create(`key ${at}`)
  await plant()
})
test.after.always(() => app.stop())

const rows = 12

const linksOf = async () => {
  const { rows: found } = await inDatabase(app.database.superuser, (client) => client.query<{ id: string }>('SELECT id FROM organisations'))
  return asSystem(app.deps.orm, (em) => readLinks(em, { organisationId: found[0]?.id ?? '', after: 0 }))
}
const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })
const canaries = [
  String(jwk.d),
  'T0/B0/canary-of-a-webhook',
  'canary-of-a-column',
  'canary-of-a-test',
  'canary-of-a-scim-password',
  'canary-of-an-okta-password',
]

/** Rows as an earlier version wrote them, by their place. */
const planted: Readonly<Record<number, Partial<AuditRow>>> = {
  3: {
    method: 'PUT',
    uri: '/v1/admin/organisation/sso',
    resource_type: 'identity-provider',
    request_body: { type: 'oidc', client_jwks: jwk, client_id: 'gatehouse' },
  },
  5: {
    method: 'POST',
    uri: '/v1/alert-webhooks',
    resource_type: 'alert-webhook',
    request_body: { name: 'Pager', url: 'https://hooks.test/T0/B0/canary-of-a-webhook' },
    after: { name: 'Pager', url: 'https://hooks.test/canary-of-a-column' },
  },
  6: {
    method: 'GET',
    uri: '/auth/oidc/callback',
    resource_type: 'session',
    query: { state: 'canary-of-a-test', iss: 'https://issuer.test' },
    related: [{ table: 'alert_webhooks', id: '0', before: { url: 'https://hooks.test/canary-of-a-column' }, after: null }],
  },
  7: {
    method: 'PATCH',
    uri: '/scim/v2/Users/01a1fe87-c059-7387-bc25-c3a7645ba27b',
    resource_type: 'user',
    request_body: { Operations: [{ op: 'replace', path: 'password', value: 'canary-of-a-scim-password' }] },
  },
  8: {
    method: 'PATCH',
    uri: '/v1/scim/v2/Users/01a1fe87-c059-7387-bc25-c3a7645ba27b',
    resource_type: 'user',
    request_body: {
      operations: [
        { OP: 'replace', Path: 'urn:ietf:params:scim:schemas:core:2.0:User:Password', Value: 'canary-of-an-okta-password' },
        { op: 'replace', path: 'displayName', value: 'gatehouse' },
      ],
    },
  },
}

/** Writes rows of the trail anew as only the installation itself could have: with the key, the whole chain after them included. */
async function plant(): Promise<void> {
  const { vault } = app.deps
  const links = await linksOf()
  await inDatabase(app.database.superuser, async (client) => {
    await client.query('SET session_replication_role = replica')
    let previous: Uint8Array = Buffer.alloc(0)
    for (const { place: seq, row: before } of links) {
      const row = { ...before, ...planted[seq] }
      const hash = linkHash(vault, { seq, previous, row })
      const { method, uri, resource_type, id } = row
      const json = [row.request_body, row.query, row.after, row.related].map((value) => (value === null ? null : JSON.stringify(value)))
      await client.query(
        `UPDATE audit_logs SET method = $1, uri = $2, resource_type = $3, request_body = $4, query = $5, after = $6, related = $7, hash = $8 WHERE id = $9`,
        [method, uri, resource_type, ...json, hash, id],
      )
      previous = hash
    }
    await client.query('UPDATE audit_heads SET hash = $1', [previous])
  })
}

const gatehouse = (...args: readonly string[]) => gatehouseHere(args, { env: environment(app.config.database) })

const trail = async (): Promise<string> =>
  JSON.stringify((await inDatabase(app.database.superuser, (client) => client.query('SELECT * FROM audit_logs ORDER BY seq'))).rows)

test.serial('the rows hold as the earlier version wrote them, with their secrets', async (t) => {
  t.like((await verifyAudit(app.deps))[0], { rows, redacted: 0, faults: [] })
  const text = await trail()
  for (const canary of canaries) t.true(text.includes(canary), canary)
})

test.serial('a dry run lists the places and changes nothing', async (t) => {
  const before = await trail()
  const { stdout, status, stderr } = await gatehouse('audit', 'redact', '--dry-run')
  t.is(status, 0, stderr)
  t.regex(stdout, /^default-organisation: 5 of 12 rows have secrets$/m)
  t.regex(stdout, /^default-organisation: row 3: request_body\.client_jwks\.d/m)
  for (const canary of canaries) t.false(stdout.includes(canary))
  t.is(await trail(), before)
})

test.serial('before the upgrade is finalized it is refused: the former release would find changed rows', async (t) => {
  const at = (level: string) => inDatabase(app.database.superuser, (client) => client.query('UPDATE release_state SET level = $1', [level]))
  const { rows: state } = await inDatabase(app.database.superuser, (client) =>
    client.query<{ level: string }>('SELECT level FROM release_state'),
  )
  await at('1.3.0')
  const { status, stderr } = await gatehouse('audit', 'redact')
  await at(state[0]?.level ?? '')
  t.is(status, 78)
  t.regex(stderr, /finalize/)
})

test.serial('secrets go, links stay, the chain holds, and a row says what was done; again changes nothing', async (t) => {
  const hashes = async () =>
    (await inDatabase(app.database.superuser, (client) => client.query('SELECT hash FROM audit_logs WHERE seq <= 12 ORDER BY seq'))).rows
  const before = await hashes()
  const done = await gatehouse('audit', 'redact', '--by', 'Ada')
  t.is(done.status, 0, done.stderr)
  t.is(done.stdout, 'default-organisation: 5 of 12 rows were redacted\n')
  const text = await trail()
  for (const canary of canaries) t.false(text.includes(canary), canary)
  t.true(text.includes('gatehouse'))
  t.true(text.includes('https://hooks.test/hmac:'))
  t.deepEqual(await hashes(), before)
  const proof = await gatehouse('audit', 'verify')
  t.is(proof.status, 0, proof.stderr)
  t.regex(proof.stdout, /^default-organisation: 13 rows hold, 5 of them redacted, anchor 13:/)
  const [note] = (await inDatabase(app.database.superuser, (client) => client.query('SELECT * FROM audit_logs WHERE seq = 13'))).rows
  t.like(note, { action: 'redact', resource_type: 'audit-log', actor_type: 'operator', actor_name: 'Ada' })
  t.deepEqual(
    note.request_body.rows.map(({ seq }: { seq: number }) => seq),
    [3, 5, 6, 7, 8],
  )
  const again = await gatehouse('audit', 'redact')
  t.is(again.stdout, 'default-organisation: 0 of 13 rows were redacted\n')
  t.is(await trail(), text)
})

/** Makes a change to the trail that only the owner of the database can make, looks at the findings, and undoes it. */
const tampered = async (statement: string, values: readonly unknown[] = []) => {
  const change = async (client: Client) => {
    await client.query('SET session_replication_role = replica')
    await client.query(statement, [...values])
  }
  await inDatabase(app.database.superuser, async (client) => {
    await client.query('CREATE TABLE kept AS TABLE audit_logs')
    await change(client)
  })
  const [report] = await verifyAudit(app.deps)
  await inDatabase(app.database.superuser, (client) =>
    client.query(
      'SET session_replication_role = replica; DELETE FROM audit_logs; INSERT INTO audit_logs SELECT * FROM kept; DROP TABLE kept',
    ),
  )
  return report?.faults ?? ['no report']
}

const redactedBadly = /^row \d+ \(.*was redacted without the key of the installation/
const cases: readonly (readonly [what: string, statement: string, fault: RegExp])[] = [
  ['a redacted row is changed', `UPDATE audit_logs SET request_body = request_body || '{"type":"saml"}' WHERE seq = 3`, redactedBadly],
  ['the actor of a redacted row is changed', `UPDATE audit_logs SET actor_name = 'x' WHERE seq = 3`, redactedBadly],
  [
    'the time of a redaction is changed',
    `UPDATE audit_logs SET redaction = redaction || '{"at":"2020-01-01T00:00:00.000Z"}' WHERE seq = 3`,
    redactedBadly,
  ],
  ['another person is said to have redacted', `UPDATE audit_logs SET redaction = redaction || '{"by":"Eve"}' WHERE seq = 5`, redactedBadly],
  ['the proof is taken away', `UPDATE audit_logs SET redaction = NULL WHERE seq = 3`, /^row 3 \(.*was changed/],
  [
    'a redaction is forged with the proof of another row',
    `UPDATE audit_logs SET after = NULL, redaction = (SELECT redaction FROM audit_logs WHERE seq = 3) WHERE seq = 7`,
    redactedBadly,
  ],
  [
    'a redaction is forged with the hash of the row as its proof',
    `UPDATE audit_logs SET after = NULL, redaction = jsonb_build_object('at', 'x', 'by', 'y', 'proof', encode(hash, 'hex')) WHERE seq = 7`,
    redactedBadly,
  ],
  ['a redaction of another form is forged', `UPDATE audit_logs SET redaction = '5' WHERE seq = 7`, redactedBadly],
  ['a redacted row is taken away', `DELETE FROM audit_logs WHERE seq = 5`, /^row 5 is missing/],
  [
    'redacted rows are swapped',
    `DO $$ BEGIN UPDATE audit_logs SET seq = -seq WHERE seq IN (5, 6); UPDATE audit_logs SET seq = 11 + seq WHERE seq < 0; END $$`,
    redactedBadly,
  ],
  ['a row after a redacted one is changed', `UPDATE audit_logs SET action = 'x' WHERE seq = 4`, /^row 4 \(.*was changed/],
]
for (const [what, statement, fault] of cases)
  test.serial(`found: ${what}`, async (t) => {
    t.regex((await tampered(statement))[0] ?? '', fault)
  })

test.serial('found: a redaction that was made with another key', async (t) => {
  const [, , , , , , link] = await linksOf()
  if (link === undefined) throw new Error('there is no row')
  const row = { ...link.row, after: null }
  const said = { at: new Date().toISOString(), by: 'Eve' }
  const other = { hashKey: () => Buffer.alloc(32, 7) }
  const proof = redactionProof(other, { seq: link.place, previous: Buffer.alloc(32), hash: link.hash, row }, said)
  const [fault] = await tampered('UPDATE audit_logs SET after = NULL, redaction = $1 WHERE seq = 7', [JSON.stringify({ ...said, proof })])
  t.regex(fault ?? '', redactedBadly)
})

test.serial('the process can redact, and nothing else: links, actors and proofs that stay are out of its reach', async (t) => {
  for (const statement of [
    `UPDATE audit_logs SET request_body = '{}' WHERE seq = 8`,
    `UPDATE audit_logs SET redaction = '{}', action = 'x' WHERE seq = 8`,
    `UPDATE audit_logs SET redaction = '{}', hash = '' WHERE seq = 8`,
    `UPDATE audit_logs SET redaction = NULL WHERE seq = 3`,
    `DELETE FROM audit_logs WHERE seq = 3`,
  ]) {
    const error = await t.throwsAsync(inDatabase(app.database.superuser, (client) => client.query(statement)))
    t.regex(error.message, /never changed or deleted/, statement)
  }
})

test.serial('a row that does not hold is not redacted, since that would hide it', async (t) => {
  const body = JSON.stringify({ client_jwks: jwk, type: 'oidc' })
  await inDatabase(app.database.superuser, async (client) => {
    await client.query('SET session_replication_role = replica')
    await client.query('UPDATE audit_logs SET request_body = $1 WHERE seq = 8', [body])
  })
  const { status, stdout, stderr } = await gatehouse('audit', 'redact')
  t.is(status, 1)
  t.regex(stdout, /0 of 13 rows were redacted; 1 do not hold, the first is row 8/)
  t.regex(stderr, /audit verify/)
  t.regex((await verifyAudit(app.deps))[0]?.faults[0] ?? '', /^row 8 \(.*was changed/)
})
