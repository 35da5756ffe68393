import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { MikroORM } from '@mikro-orm/postgresql'
import type { ClientConfig } from 'pg'
import type { Config } from '../../../src/config/config.ts'
import { loadConfig } from '../../../src/config/index.ts'
import { connect } from '../../../src/app/database/connect.ts'
import { asSystem, inTenant, openOrm } from '../../../src/app/database/orm.ts'
import { openSidePool } from '../../../src/app/database/side-pool.ts'
import { openVault } from '../../../src/app/secrets/open-vault.ts'
import type { SealedReason } from '../../../src/app/secrets/vault.ts'
import { ApiError } from '../../../src/lib/errors.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { uuidv7 } from '../../../src/lib/uuid.ts'
import { silent, testDatabase } from '../../support/database.ts'

const newKey = () => new Secret(randomBytes(32).toString('base64'))

interface Setting {
  readonly orm: MikroORM
  readonly client: ClientConfig
  /** As with an external database and no key, in an empty data folder. */
  readonly config: Config
}

async function setUp(t: ExecutionContext): Promise<Setting> {
  const database = await testDatabase()
  const { runtime } = await connect(database.config, silent)
  const orm = await openOrm({ client: runtime, poolSize: 5, entities: [] })
  const dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-vault-'))
  t.teardown(() => orm.close().then(database.drop))
  t.teardown(() => rm(dataDir, { recursive: true }))
  return { orm, client: runtime, config: { ...loadConfig({}), dataDir, database: database.config, encryptionKey: null } }
}

const open = ({ orm, client, config }: Setting, change: Partial<Config> = {}) =>
  openVault({ orm, side: openSidePool(client, silent), config: { ...config, ...change }, log: silent })

const embedded = ({ config }: Setting): Partial<Config> => ({ database: { ...config.database, embedded: true } })

async function newOrganisation(orm: MikroORM): Promise<string> {
  const id = uuidv7()
  await asSystem(orm, (em) => em.execute('INSERT INTO organisations (id, slug, name) VALUES (?, ?, ?)', [id, id, 'An organisation']))
  return id
}

const placeIn = (organisationId: string, rowId = 'row') => ({ organisationId, table: 'integrations', column: 'credential', rowId })

test('what is sealed opens again, also in another process with the same key', async (t) => {
  const setting = await setUp(t)
  const encryptionKey = newKey()
  const [first, second] = await Promise.all([open(setting, { encryptionKey }), open(setting, { encryptionKey })])
  const place = placeIn(await newOrganisation(setting.orm))
  const sealed = await first.encrypt(place, 'sk-provider-key')
  t.is(await second.decrypt(place, sealed), 'sk-provider-key')
  t.false(Buffer.from(sealed).includes('sk-provider-key'))
  t.deepEqual(first.hashKey('gh-key'), second.hashKey('gh-key'))
  t.is(first.hashKey('gh-key').length, 32)
  t.notDeepEqual(first.hashKey('gh-key'), first.hashKey('gh-kez'))
})

test('a value moved to another row, column, table or organisation does not open, and the error names the place, not the value', async (t) => {
  const setting = await setUp(t)
  const vault = await open(setting, { encryptionKey: newKey() })
  const [alpha, beta] = [await newOrganisation(setting.orm), await newOrganisation(setting.orm)]
  const place = placeIn(alpha)
  const sealed = await vault.encrypt(place, 'sk-provider-key')
  for (const change of [{ rowId: 'other' }, { column: 'secret_configurations' }, { table: 'providers' }, { organisationId: beta }]) {
    const error = await t.throwsAsync(vault.decrypt({ ...place, ...change }, sealed))
    t.regex(error.message, /cannot be decrypted: it was changed, moved, or sealed with another key/)
    t.notRegex(error.message, /sk-provider-key/)
  }
  await t.throwsAsync(vault.decrypt(place, Buffer.from('not sealed at all')), { message: /cannot be decrypted/ })
})

test('values of two rows swapped in the database do not open', async (t) => {
  const setting = await setUp(t)
  const vault = await open(setting, { encryptionKey: newKey() })
  const organisationId = await newOrganisation(setting.orm)
  const [one, two] = [uuidv7(), uuidv7()]
  const insert = `INSERT INTO integrations (id, organisation_id, slug, name, ai_provider_id, credential) VALUES (?, ?, ?, 'An integration', 'openai', ?)`
  for (const id of [one, two]) {
    const credential = await vault.encrypt(placeIn(organisationId, id), `key of ${id}`)
    await inTenant(setting.orm, organisationId, (em) => em.execute(insert, [id, organisationId, id, credential]))
  }
  const read = async (id: string) => {
    const [row] = await inTenant(setting.orm, organisationId, (em) =>
      em.execute<{ credential: Buffer }[]>('SELECT credential FROM integrations WHERE id = ?', [id]),
    )
    return vault.decrypt(placeIn(organisationId, id), row?.credential ?? Buffer.alloc(0))
  }
  t.is(await read(one), `key of ${one}`)
  await inTenant(setting.orm, organisationId, (em) =>
    em.execute(
      'UPDATE integrations a SET credential = b.credential FROM integrations b WHERE a.id <> b.id AND a.organisation_id = b.organisation_id',
    ),
  )
  await t.throwsAsync(read(one), { message: /integrations\.credential of row .* cannot be decrypted/ })
  await t.throwsAsync(read(two), { message: /integrations\.credential of row .* cannot be decrypted/ })
})

test('a data key moved to another organisation does not open', async (t) => {
  const setting = await setUp(t)
  const encryptionKey = newKey()
  const [alpha, beta] = [await newOrganisation(setting.orm), await newOrganisation(setting.orm)]
  const vault = await open(setting, { encryptionKey })
  const sealed = await vault.encrypt(placeIn(alpha), 'sk-provider-key')
  await vault.encrypt(placeIn(beta), 'another')
  await asSystem(setting.orm, (em) => em.execute('UPDATE data_keys a SET wrapped = b.wrapped FROM data_keys b WHERE a.id <> b.id'))
  const fresh = await open(setting, { encryptionKey })
  await t.throwsAsync(fresh.decrypt(placeIn(alpha), sealed), { message: /cannot be decrypted/ })
})

test('ten processes that seal first at once make one data key, and all read each other', async (t) => {
  const setting = await setUp(t)
  const encryptionKey = newKey()
  const place = placeIn(await newOrganisation(setting.orm))
  const vaults = await Promise.all(Array.from({ length: 10 }, () => open(setting, { encryptionKey })))
  const sealed = await Promise.all(vaults.map((vault, index) => vault.encrypt(place, String(index))))
  const opened = await Promise.all(vaults.map(async (vault, index) => vault.decrypt(place, sealed[9 - index] ?? Buffer.alloc(0))))
  t.deepEqual(opened, ['9', '8', '7', '6', '5', '4', '3', '2', '1', '0'])
  const keys = await asSystem(setting.orm, (em) => em.execute<unknown[]>('SELECT 1 FROM data_keys'))
  t.is(keys.length, 1)
})

test('neither the keys nor the pepper stand in the database', async (t) => {
  const setting = await setUp(t)
  const encryptionKey = newKey()
  const vault = await open(setting, { encryptionKey })
  await vault.encrypt(placeIn(await newOrganisation(setting.orm)), 'x')
  const rows = await asSystem(setting.orm, (em) =>
    em.execute<{ line: string }[]>(
      `SELECT row_to_json(d)::text AS line FROM data_keys d UNION ALL SELECT row_to_json(i)::text FROM instance_secrets i`,
    ),
  )
  const bytes = Buffer.from(encryptionKey.reveal(), 'base64')
  const dump = rows.map(({ line }) => line).join('\n')
  for (const form of [bytes.toString('base64'), bytes.toString('hex'), bytes.toString('hex').slice(0, 16)]) t.false(dump.includes(form))
})

const sealedBy = test.macro(async (t, given: string | null, reason: SealedReason) => {
  const setting = await setUp(t)
  const right = await open(setting, { encryptionKey: newKey() })
  const place = placeIn(await newOrganisation(setting.orm))
  const value = await right.encrypt(place, 'sk-provider-key')
  const vault = await open(setting, { encryptionKey: given === null ? null : new Secret(given) })
  t.is(vault.sealed, reason)
  const expected = { instanceOf: ApiError, code: 'sealed', message: /^This server is sealed: .*ENCRYPTION_KEY/ }
  await t.throwsAsync(vault.decrypt(place, value), expected)
  await t.throwsAsync(vault.encrypt(place, 'x'), expected)
  t.throws(() => vault.hashKey('gh-key'), expected)
})

test('sealed: no key', sealedBy, null, 'missing_key')
test('sealed: another key', sealedBy, randomBytes(32).toString('base64'), 'wrong_key')
test('sealed: too short', sealedBy, randomBytes(16).toString('base64'), 'invalid_key')
test('sealed: no base64', sealedBy, 'correct horse battery staple, 32!', 'invalid_key')

test('the right fingerprint on a pepper that was sealed with another key: wrong_key', async (t) => {
  const setting = await setUp(t)
  const encryptionKey = newKey()
  await open(setting, { encryptionKey })
  await asSystem(setting.orm, (em) => em.execute(`UPDATE instance_secrets SET wrapped = set_byte(wrapped, 40, get_byte(wrapped, 40) # 1)`))
  t.is((await open(setting, { encryptionKey })).sealed, 'wrong_key')
})

test('the embedded mode makes its key once, for its owner only, and finds it again', async (t) => {
  const setting = await setUp(t)
  const vaults = await Promise.all(Array.from({ length: 10 }, () => open(setting, embedded(setting))))
  t.true(vaults.every(({ sealed }) => sealed === null))
  t.is(new Set(vaults.map((vault) => vault.hashKey('gh-key').toString('hex'))).size, 1)
  const path = join(setting.config.dataDir, 'encryption.key')
  t.is((await stat(path)).mode & 0o777, 0o600)
  t.is(Buffer.from(await readFile(path, 'utf8'), 'base64').length, 32)
  t.deepEqual((await open(setting, embedded(setting))).hashKey('gh-key'), vaults[0]?.hashKey('gh-key'))
})

test('the embedded mode never replaces a lost or damaged key by a new one', async (t) => {
  const setting = await setUp(t)
  const path = join(setting.config.dataDir, 'encryption.key')
  await open(setting, embedded(setting))
  await writeFile(path, 'garbage')
  t.is((await open(setting, embedded(setting))).sealed, 'invalid_key')
  await rm(path)
  t.is((await open(setting, embedded(setting))).sealed, 'missing_key')
  await t.throwsAsync(stat(path), { code: 'ENOENT' })
})

test('a key file that cannot be read stops the start and is named', async (t) => {
  const setting = await setUp(t)
  const blocked = { ...embedded(setting), dataDir: join(setting.config.dataDir, 'file') }
  await writeFile(blocked.dataDir, '')
  await chmod(blocked.dataDir, 0o600)
  await t.throwsAsync(open(setting, blocked), { message: /encryption\.key cannot be read/ })
})

test('as many sealers as the pool has connections do not wait for each other', async (t) => {
  const setting = await setUp(t)
  const vault = await open(setting, { encryptionKey: newKey() })
  const organisationId = await newOrganisation(setting.orm)
  const sealed = await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      inTenant(setting.orm, organisationId, () => vault.encrypt(placeIn(organisationId, `${i}`), 'secret')),
    ),
  )
  t.is(await vault.decrypt(placeIn(organisationId, '9'), sealed[9] ?? new Uint8Array()), 'secret')
})
