import { randomBytes } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import pino from 'pino'
import { createLevel } from '../../../src/app/level/level.ts'
import { loadConfig } from '../../../src/config/index.ts'
import { connect } from '../../../src/app/database/connect.ts'
import { asSystem, openOrm } from '../../../src/app/database/orm.ts'
import { makeFirstOwner } from '../../../src/app/start/first-owner.ts'
import { provision } from '../../../src/app/start/provision.ts'
import { openSidePool } from '../../../src/app/database/side-pool.ts'
import { openVault } from '../../../src/app/secrets/open-vault.ts'
import { isApiKey } from '../../../src/lib/api-key.ts'
import { organisationScopes, workspaceScopes } from '../../../src/lib/access/scopes.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { silent, testDatabase } from '../../support/database.ts'
import { inParallel } from '../../support/in-parallel.ts'

async function setUp(t: ExecutionContext) {
  const database = await testDatabase()
  const { runtime } = await connect(database.config, silent)
  const orm = await openOrm({ client: runtime, poolSize: 5, entities: [] })
  t.teardown(() => orm.close().then(database.drop))
  const config = {
    ...loadConfig({ INIT_ORG_NAME: 'Acme', INIT_WORKSPACE_NAME: 'Main' }),
    database: database.config,
    encryptionKey: new Secret(randomBytes(32).toString('base64')),
  }
  const side = openSidePool(runtime, silent)
  const vault = await openVault({ orm, side, config, log: silent })
  return { orm, side, config, vault, log: silent, level: createLevel(config) }
}

const given = (adminApiKey: string, workspaceApiKey: string) => ({
  organisationName: 'Ünïque Ltd.',
  workspaceName: 'Team A',
  adminApiKey: new Secret(adminApiKey),
  ownerEmail: null,
  ownerPassword: null,
  workspaceApiKey: new Secret(workspaceApiKey),
})

test('the first start makes an organisation, its default workspace and two keys with every scope of their types', async (t) => {
  const deps = await setUp(t)
  const made = await provision(deps)
  if (made === null) throw new Error('nothing was provisioned')
  t.true(isApiKey(made.adminApiKey))
  t.true(isApiKey(made.workspaceApiKey))
  const keys = await asSystem(deps.orm, (em) =>
    em.execute(
      `SELECT k.type, k.key_hash, k.key_hint, k.scopes, k.status, k.workspace_id, o.slug AS organisation, w.slug AS workspace, w.is_default
         FROM api_keys k JOIN organisations o ON o.id = k.organisation_id LEFT JOIN workspaces w ON w.id = k.workspace_id ORDER BY k.type`,
    ),
  )
  t.deepEqual(keys, [
    {
      type: 'organisation-service',
      key_hash: deps.vault.hashKey(made.adminApiKey),
      key_hint: `gh-...${made.adminApiKey.slice(-4)}`,
      scopes: organisationScopes,
      status: 'active',
      workspace_id: null,
      organisation: 'acme',
      workspace: null,
      is_default: null,
    },
    {
      type: 'workspace-service',
      key_hash: deps.vault.hashKey(made.workspaceApiKey),
      key_hint: `gh-...${made.workspaceApiKey.slice(-4)}`,
      scopes: workspaceScopes,
      status: 'active',
      workspace_id: made.workspaceId,
      organisation: 'acme',
      workspace: 'main',
      is_default: true,
    },
  ])
  t.is(await provision(deps), null)
})

test('of fifty starts and fifty commands at once one makes the first owner, and it is in the trail', async (t) => {
  const deps = await setUp(t)
  await provision(deps)
  const named = { ...deps, config: { ...deps.config, init: { ...deps.config.init, ownerEmail: 'ada@example.com' } } }
  const [organisation] = await asSystem(deps.orm, (em) => em.execute<{ id: string }[]>('SELECT id FROM organisations'))
  const organisationId = organisation?.id ?? ''
  const command = (at: number) => asSystem(deps.orm, (em) => makeFirstOwner(em, { organisationId, email: `other${at}@example.com` }))
  await inParallel(Array.from({ length: 100 }), 10, async (_, at) => (at % 2 === 0 ? provision(named) : command(at)))
  const owners = await asSystem(deps.orm, (em) => em.execute(`SELECT role FROM users`))
  t.deepEqual(owners, [{ role: 'owner' }])
  t.is(await command(0), null)
})

test('INIT_OWNER_EMAIL makes an owner of somebody who is a user already, once', async (t) => {
  const deps = await setUp(t)
  await provision(deps)
  await asSystem(deps.orm, (em) =>
    em.execute(
      `INSERT INTO users (id, organisation_id, email, role) SELECT gen_random_uuid(), id, 'ada@example.com', 'member' FROM organisations`,
    ),
  )
  const named = { ...deps, config: { ...deps.config, init: { ...deps.config.init, ownerEmail: 'ada@example.com' } } }
  await provision(named)
  await provision(named)
  const owners = await asSystem(deps.orm, (em) => em.execute('SELECT email, role FROM users'))
  t.deepEqual(owners, [{ email: 'ada@example.com', role: 'owner' }])
  const trail = await asSystem(deps.orm, (em) => em.execute('SELECT actor_type, actor_name, action, resource_type FROM audit_logs'))
  t.deepEqual(trail, [{ actor_type: 'system', actor_name: 'INIT_OWNER_EMAIL', action: 'create', resource_type: 'user' }])
})

test('ten starters at once make one organisation, and one of them learns the keys', async (t) => {
  const deps = await setUp(t)
  const results = await Promise.all(Array.from({ length: 10 }, () => provision(deps)))
  t.is(results.filter((made) => made !== null).length, 1)
  const [counts] = await asSystem(deps.orm, (em) =>
    em.execute(
      `SELECT (SELECT count(*)::int FROM organisations) AS organisations, (SELECT count(*)::int FROM workspaces) AS workspaces, (SELECT count(*)::int FROM api_keys) AS keys`,
    ),
  )
  t.deepEqual(counts, { organisations: 1, workspaces: 1, keys: 2 })
})

test('given keys and names are used', async (t) => {
  const deps = await setUp(t)
  const init = given('an admin key that an operator chose', 'a workspace key that an operator chose')
  const made = await provision({ ...deps, config: { ...deps.config, init } })
  t.is(made?.adminApiKey, 'an admin key that an operator chose')
  t.is(made?.workspaceApiKey, 'a workspace key that an operator chose')
  const rows = await asSystem(deps.orm, (em) =>
    em.execute('SELECT o.name, o.slug, w.slug AS workspace FROM organisations o JOIN workspaces w ON w.organisation_id = o.id'),
  )
  t.deepEqual(rows, [{ name: 'Ünïque Ltd.', slug: 'unique-ltd', workspace: 'team-a' }])
})

test('given keys that are not of this database are warned of by name, without showing them', async (t) => {
  const deps = await setUp(t)
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
  const init = given('an admin key that an operator chose', 'a workspace key that an operator chose')
  await provision({ ...deps, config: { ...deps.config, init } })
  await provision({ ...deps, log, config: { ...deps.config, init } })
  t.deepEqual(lines, [], 'the same keys: nothing to warn of')
  const changed = { ...init, adminApiKey: new Secret('another admin key, given too late') }
  t.is(await provision({ ...deps, log, config: { ...deps.config, init: changed } }), null)
  t.is(lines.length, 1)
  t.regex(lines[0] ?? '', /INIT_ADMIN_API_KEY is not a key of this database/)
  t.notRegex(lines[0] ?? '', /given too late/)
})

test('a sealed vault provisions nothing', async (t) => {
  const deps = await setUp(t)
  const vault = await openVault({ ...deps, config: { ...deps.config, encryptionKey: new Secret(randomBytes(32).toString('base64')) } })
  t.is(vault.sealed, 'wrong_key')
  t.is(await provision({ ...deps, vault }), null)
})
