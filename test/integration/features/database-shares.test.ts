import test from 'ava'
import { createDatabaseTurns } from '../../../src/app/database/database-turns.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let hostile: Tenant
let other: Tenant
test.before(async () => {
  control = await startControl()
  hostile = await control.createTenant('hostile')
  other = await control.createTenant('other')
})
test.after.always(() => control.close())

/** Calls of one organisation that wait for a lock, as slow ones would, and calls of another meanwhile. */
const shared = test.macro<[locked: string, flood: string, served: readonly string[]]>({
  async exec(t, locked, flood, served) {
    const holder = await control.sql.connect()
    try {
      await holder.query(`BEGIN; LOCK TABLE ${locked} IN ACCESS EXCLUSIVE MODE`)
      let answered = 0
      const flooding = Array.from({ length: 40 }, async () => {
        await control.call(hostile.adminKey, 'GET', flood)
        answered += 1
      })
      for (const path of served) t.like(await control.call(other.adminKey, 'GET', path), { status: 200 }, path)
      t.is(answered, 0, 'all of the other organisation still wait')
      await holder.query('ROLLBACK')
      await Promise.all(flooding)
    } finally {
      holder.release(true)
    }
  },
  title: (_, locked, flood) => `40 requests for ${flood} that wait for ${locked} leave another organisation its connections`,
})

test.serial(shared, 'logs', '/logs?q=needle', ['/configs', '/api-keys', '/virtual-keys'])
test.serial(shared, 'guardrails', '/guardrails', ['/configs', '/logs', '/api-keys'])
test.serial(shared, 'logs', '/analytics/groups/ai-models', ['/configs', '/virtual-keys', '/api-keys'])

test('an organisation that asks much has one search at a time, and goes on with what is quick', async (t) => {
  const { costly, transactions } = createDatabaseTurns(12)
  const gate = Promise.withResolvers<void>()
  const order: string[] = []
  const search = (owner: string, name: string) => costly(owner, () => transactions(owner, async () => (order.push(name), gate.promise)))
  const searches = [search('a', 'a1'), search('a', 'a2'), search('b', 'b1')]
  await transactions('a', async () => order.push('a quick'))
  t.deepEqual(order.toSorted(), ['a quick', 'a1', 'b1'])
  gate.resolve()
  await Promise.all(searches)
  t.is(order.at(-1), 'a2')
})

test('what is beyond the requests that may wait is refused, and a pool of one works', async (t) => {
  const { transactions } = createDatabaseTurns(1)
  const gate = Promise.withResolvers<void>()
  const all = Array.from({ length: 501 }, () => transactions('a', () => gate.promise))
  await t.throwsAsync(
    transactions('a', async () => {}),
    { message: /wait for the database/ },
  )
  const another = transactions('b', async () => 'served')
  gate.resolve()
  t.is(await another, 'served')
  await Promise.all(all)
})
