import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { organisationScopes, userScopes, workspaceScopes } from '../../../src/lib/access/scopes.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { gatehouseHere } from '../../support/cli.ts'
import { inDatabase, testDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { send } from '../../support/http.ts'
import { settingsFor, temporaryFolder } from '../../support/preflight.ts'
import { environment } from '../../support/process.ts'

let app: TestApp
test.before(async () => {
  app = await startApp()
})
test.after.always(() => app?.stop())

const keys = (...args: readonly string[]) => gatehouseHere(['keys', ...args], { env: environment(app.config.database) })
const statusWith = async (key: string) =>
  (await send(`${app.baseUrl}/v1/admin/organisation`, { method: 'GET', headers: { 'x-service-api-key': key } })).status

interface Made {
  readonly id: string
  readonly key: string
}

test('a lost admin key is replaced: made in the database, shown once, in the trail, and revoked within a second', async (t) => {
  const { status, stdout, stderr } = await keys('create', 'organisation', 'service', '--name', 'Recovery', '--scopes', 'all')
  t.is(status, 0, stderr)
  const key = stdout.trim()
  t.regex(key, /^gh-\w{49}$/)
  const [, id = ''] = /The organisation-service key "Recovery" \(([0-9a-f-]{36})\) of default-organisation\./.exec(stderr) ?? []
  t.false(stderr.includes(key))
  t.is(await statusWith(key), 200)

  const listed = await keys('list', '--json')
  t.like(
    (JSON.parse(listed.stdout) as { id: string }[]).find((row) => row.id === id),
    {
      organisation: 'default-organisation',
      workspace: null,
      type: 'organisation-service',
      status: 'active',
      hint: `gh-...${key.slice(-4)}`,
      scopes: organisationScopes.length,
    },
  )
  t.false(listed.stdout.includes(key))

  t.regex((await keys('revoke', id)).stdout, new RegExp(`^Revoked the organisation-service key "Recovery" \\(${id}, `))
  await eventually(async () => (await statusWith(key)) === 401, 5000, 'the key to stop working')
  t.like(await keys('revoke', id), { status: 1, stderr: `error: the key ${id} is revoked already\n` })
  t.false((await keys('list')).stdout.includes(id))
  t.regex((await keys('list', '--all')).stdout, new RegExp(`^${id}  archived `, 'm'))

  const rows = await inDatabase(app.database.superuser, (client) =>
    client.query('SELECT actor_type, actor_name, action, method, uri, after FROM audit_logs WHERE resource_id = $1 ORDER BY seq', [id]),
  )
  t.like(rows.rows, [
    { actor_type: 'operator', action: 'create', method: 'POST', uri: '/v1/api-keys/organisation/service' },
    { actor_type: 'operator', action: 'delete', method: 'DELETE', uri: `/v1/api-keys/${id}` },
  ])
  t.regex(String(rows.rows[0]?.actor_name), /^.+@.+$/)
  t.false(JSON.stringify(rows.rows).includes(key))
  const verified = await gatehouseHere(['audit', 'verify'], { env: environment(app.config.database) })
  t.is(verified.status, 0, verified.stderr)
})

test('keys of every kind, with the rules of the API', async (t) => {
  const inDefault = ['--workspace', 'default-workspace', '--name', 'k', '--json']
  const service = await keys(
    'create',
    'workspace',
    'service',
    ...inDefault,
    '--scopes',
    'logs.list, completions.write',
    '--expires',
    '2099-01-01T00:00:00Z',
  )
  t.is(service.status, 0, service.stderr)
  const made = JSON.parse(service.stdout) as Made
  t.like(made, { type: 'workspace-service', organisation: 'default-organisation' })
  const rows = await inDatabase(app.database.superuser, (client) =>
    client.query('SELECT type, scopes, expires_at, creation_mode, workspace_id IS NOT NULL AS housed FROM api_keys WHERE id = $1', [
      made.id,
    ]),
  )
  t.like(rows.rows, [{ type: 'workspace-service', scopes: ['logs.list', 'completions.write'], housed: true }])
  const userId = randomUUID()
  await inDatabase(app.database.superuser, async (client) => {
    const {
      rows: [workspace],
    } = await client.query<{ id: string; organisation_id: string }>('SELECT id, organisation_id FROM workspaces')
    const of = [userId, workspace?.organisation_id]
    await client.query(`INSERT INTO users (id, organisation_id, email, role) VALUES ($1, $2, 'p@example.com', 'member')`, of)
    const member = `INSERT INTO workspace_members (id, user_id, organisation_id, workspace_id, role) VALUES (gen_random_uuid(), $1, $2, $3, 'member')`
    await client.query(member, [...of, workspace?.id])
  })
  const user = await keys('create', 'workspace', 'user', ...inDefault, '--scopes', 'all', '--user', userId)
  t.is(user.status, 0, user.stderr)
  const held = await inDatabase(app.database.superuser, (client) =>
    client.query<{ scopes: string[] }>('SELECT scopes FROM api_keys WHERE id = $1', [(JSON.parse(user.stdout) as Made).id]),
  )
  t.is(held.rows[0]?.scopes.length, userScopes.length)

  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [['organisation', 'user', '--name', 'k', '--scopes', 'all'], /An organisation key is a service key/],
    [['organisation', 'service', '--name', 'k', '--scopes', 'completions.write'], /organisation-service cannot have: completions\.write/],
    [['workspace', 'service', '--name', 'k', '--scopes', 'all', '--expires', 'soon'], /`expires_at`: .*\(got "soon"\)/],
    [['workspace', 'service', '--name', 'k'], /a key needs --name and --scopes/],
    [['workspace', 'user', '--name', 'k', '--scopes', 'all'], /a user key needs --user/],
    [[], /name the kind of key: organisation service/],
  ]
  for (const [args, message] of wrong) {
    const { status, stdout, stderr } = await keys('create', ...args)
    t.is(status, 2, args.join(' '))
    t.is(stdout, '')
    t.regex(stderr, message)
  }
  t.like(await keys('create', 'workspace', 'service', '--name', 'k', '--scopes', 'all', '--organisation', 'nobody'), {
    status: 1,
    stderr: 'error: there is no organisation nobody; there is default-organisation\n',
  })
})

for (const [level, type, missing] of [
  ['1.3.1', 'organisation', ['policies.list', 'deployments.list', 'secret_references.list']],
  ['1.3.1', 'workspace', ['mcp.invoke', 'policies.list', 'secret_references.list']],
  ['1.7.3', 'organisation', ['deployments.list', 'secret_references.list']],
  ['1.11.2', 'organisation', ['secret_references.list']],
] as const)
  test(`at level ${level}, "--scopes all" gives a key of the ${type} each scope that the level has`, async (t) => {
    const env = { ...environment(app.config.database), RELEASE_LEVEL: level }
    const made = await gatehouseHere(['keys', 'create', type, 'service', '--name', `Recovery ${level}`, '--scopes', 'all', '--json'], {
      env,
    })
    t.is(made.status, 0, made.stderr)
    const { rows } = await inDatabase(app.database.superuser, (client) =>
      client.query<{ scopes: string[] }>('SELECT scopes FROM api_keys WHERE id = $1', [(JSON.parse(made.stdout) as Made).id]),
    )
    const everything = type === 'organisation' ? organisationScopes : workspaceScopes
    const held = new Set(rows[0]?.scopes)
    const absent = everything.filter((scope) => !held.has(scope))
    t.true(held.has('logs.list'))
    for (const scope of missing) t.true(absent.includes(scope), scope)
    t.true(absent.every((scope) => missing.some((one) => one.split('.', 1)[0] === scope.split('.', 1)[0])))
  })

test('a leaked key is found by its secret', async (t) => {
  const { stdout } = await keys('create', 'workspace', 'service', '--name', 'Leaked', '--scopes', 'logs.list', '--json')
  const { id, key } = JSON.parse(stdout) as Made
  const file = path.join(temporaryFolder(t), 'leaked')
  writeFileSync(file, `${key}\n`)
  const revoked = await keys('revoke', '--secret-file', file, '--json')
  t.like(JSON.parse(revoked.stdout), { id, status: 'archived', name: 'Leaked' })
  t.false(revoked.stdout.includes(key))
  writeFileSync(file, 'gh-of-nobody')
  t.like(await keys('revoke', '--secret-file', file), { status: 1, stderr: 'error: no key of this installation has that secret\n' })
  t.is((await keys('revoke')).status, 2)
  t.is((await keys('revoke', 'me')).status, 2)
})

test('the first organisation and its keys are made where there is none', async (t) => {
  const database = await testDatabase()
  t.teardown(database.drop)
  const { INIT_ADMIN_API_KEY: _, INIT_WORKSPACE_API_KEY: __, ...env } = settingsFor(t, database.config)
  const run = (...args: readonly string[]) => gatehouseHere(['keys', ...args], { env: { ...env, INIT_ORG_NAME: 'Acme' } })
  t.regex(
    (await run('create', 'organisation', 'service', '--name', 'k', '--scopes', 'all')).stderr,
    /^error: there is no organisation yet: /,
  )
  // None of these seals the database, with any key.
  const other = { ...env, ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64') }
  const secretFile = path.join(temporaryFolder(t), 'secret')
  writeFileSync(secretFile, 'gh-of-nobody')
  for (const [args, status] of [
    [['keys', 'list'], 0],
    [['keys', 'revoke', randomUUID()], 1],
    [['keys', 'revoke', '--secret-file', secretFile], 1],
    [['keys', 'rewrap'], 0],
    [['audit', 'verify'], 1],
    [['owner', 'create', '--email', 'a@example.com'], 1],
  ] as const)
    t.like(await gatehouseHere(args, { env: other }), { status }, args.join(' '))
  const sealed = 'SELECT name FROM instance_secrets UNION SELECT encryption_key_fp FROM release_state WHERE encryption_key_fp IS NOT NULL'
  t.deepEqual((await inDatabase(database.superuser, (client) => client.query(sealed))).rows, [])
  const first = await run('create', '--first', '--json')
  t.is(first.status, 0, first.stderr)
  const made = JSON.parse(first.stdout) as Record<string, string>
  t.regex(made['admin_key'] ?? '', /^gh-/)
  t.like(await run('create', '--first'), {
    status: 1,
    stderr: 'error: there is an organisation already: make a key of it, without --first\n',
  })
  const own = await startApp({ database, env: { INIT_ORG_NAME: 'Acme' } })
  t.teardown(() => own.stop())
  const { status, text } = await send(`${own.baseUrl}/v1/admin/organisation`, {
    method: 'GET',
    headers: { 'x-service-api-key': made['admin_key'] ?? '' },
  })
  t.is(status, 200)
  t.true(text.includes('Acme'))
})

test('an installation that is sealed makes no keys', async (t) => {
  const env = { ...environment(app.config.database), ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64') }
  const { status, stderr } = await gatehouseHere(['keys', 'list'], { env })
  t.is(status, 78)
  t.regex(stderr, /error: the encryption key is missing or not the right one\n$/)
})
