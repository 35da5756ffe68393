import { randomBytes } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import type { MikroORM } from '@mikro-orm/postgresql'
import { connect } from '../../../src/app/database/connect.ts'
import { asSystem, openOrm } from '../../../src/app/database/orm.ts'
import { chooseKey, type KeyRing } from '../../../src/app/secrets/encryption-key.ts'
import { openSidePool } from '../../../src/app/database/side-pool.ts'
import { openVault } from '../../../src/app/secrets/open-vault.ts'
import { rewrap } from '../../../src/app/secrets/rewrap.ts'
import { loadConfig } from '../../../src/config/index.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { uuidv7 } from '../../../src/lib/uuid.ts'
import { silent, testDatabase } from '../../support/database.ts'

const newKey = () => randomBytes(32).toString('base64')

async function setUp(t: ExecutionContext) {
  const database = await testDatabase()
  const { runtime: client } = await connect(database.config, silent)
  const orm = await openOrm({ client, poolSize: 2, entities: [] })
  t.teardown(() => orm.close().then(database.drop))
  const configure = (key: string, previous: readonly string[] = []) => ({
    ...loadConfig({}),
    database: database.config,
    encryptionKey: new Secret(key),
    encryptionKeyPrevious: previous.length === 0 ? null : new Secret(previous.join(', ')),
  })
  return {
    orm,
    open: (key: string, previous?: readonly string[]) =>
      openVault({ orm, side: openSidePool(client, silent), config: configure(key, previous), log: silent }),
    ring: async (key: string, previous?: readonly string[]): Promise<KeyRing> => {
      const chosen = await chooseKey(configure(key, previous), { mayCreate: false })
      if ('sealed' in chosen) throw new Error(chosen.sealed)
      return chosen
    },
  }
}

async function newPlace(orm: MikroORM) {
  const organisationId = uuidv7()
  await asSystem(orm, (em) =>
    em.execute('INSERT INTO organisations (id, slug, name) VALUES (?, ?, ?)', [organisationId, organisationId, 'An organisation']),
  )
  return { organisationId, table: 'integrations', column: 'credential', rowId: 'row' }
}

test('a key is replaced while processes run: with both keys, then rewrap, then with the new one alone', async (t) => {
  const { orm, open, ring } = await setUp(t)
  const [old, fresh] = [newKey(), newKey()]
  const before = await open(old)
  const [place, later] = [await newPlace(orm), await newPlace(orm)]
  const sealed = await before.encrypt(place, 'sk-provider')

  const logPlace = { id: uuidv7(), organisationId: place.organisationId, createdAt: 1 }
  const sealedLog = Buffer.concat(before.logs.seal(logPlace, [Buffer.from('a prompt')]))

  const both = await open(fresh, [old])
  t.is(await both.decrypt(place, sealed), 'sk-provider')
  t.deepEqual(both.hashKey('gh-key'), before.hashKey('gh-key'))
  const meanwhile = await both.encrypt(later, 'sk-meanwhile')
  t.is(await before.decrypt(later, meanwhile), 'sk-meanwhile', 'a process that knows the old key alone opens what is sealed meanwhile')

  t.is(await rewrap(orm, await ring(fresh, [old])), 4, 'two data keys, the pepper and the log key')
  t.is(await rewrap(orm, await ring(fresh, [old])), 0)
  const after = await open(fresh)
  t.is(after.sealed, null)
  t.is(await after.decrypt(place, sealed), 'sk-provider')
  t.is(await after.decrypt(later, meanwhile), 'sk-meanwhile')
  t.is(after.logs.open(logPlace, sealedLog).toString(), 'a prompt', 'logs open too')
  t.deepEqual(after.hashKey('gh-key'), before.hashKey('gh-key'))
  t.is((await open(old)).sealed, 'wrong_key')

  const afterwards = await newPlace(orm)
  const value = await both.encrypt(afterwards, 'sk-afterwards')
  t.is(await (await open(fresh)).decrypt(afterwards, value), 'sk-afterwards', 'a process that began before seals for the new key alone')
})

test('a rewrap that meets a key it does not have changes nothing', async (t) => {
  const { orm, open, ring } = await setUp(t)
  const [old, fresh] = [newKey(), newKey()]
  const vault = await open(old)
  const [first, second] = [await newPlace(orm), await newPlace(orm)]
  const sealed = [await vault.encrypt(first, 'one'), await vault.encrypt(second, 'two')] as const
  await asSystem(orm, (em) =>
    em.execute('UPDATE data_keys SET kek_fingerprint = ? WHERE organisation_id = ?', ['0123456789abcdef', second.organisationId]),
  )
  await t.throwsAsync(async () => rewrap(orm, await ring(fresh, [old])), { message: /sealed with another encryption key/ })
  t.is(await (await open(old)).decrypt(first, sealed[0]), 'one')
  t.is((await open(fresh)).sealed, 'wrong_key')
})

test('a key before that is no key: sealed, rather than half a ring', async (t) => {
  const { open } = await setUp(t)
  t.is((await open(newKey(), ['too short'])).sealed, 'invalid_key')
})
