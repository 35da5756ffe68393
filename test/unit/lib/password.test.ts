import test from 'ava'
import { hashPassword, isPassword } from '../../../src/lib/password.ts'

test('a flood of passwords from one network leaves another its turn, and what is beyond its share is refused', async (t) => {
  const order: string[] = []
  const look = (network: string) =>
    isPassword('a long enough sentence', null, network).then(
      () => order.push(network),
      (error: unknown) => order.push(`${network} ${String(error)}`),
    )
  const flood = Array.from({ length: 20 }, () => look('hostile'))
  await look('other')
  t.deepEqual(order.filter((entry) => entry === 'hostile').length <= 2, true, order.join())
  t.is(order.filter((entry) => entry.includes('Too many passwords')).length, 3)
  await Promise.all(flood)
  t.is(order.length, 21)
})

test('a password is known by its hash, whoever asks', async (t) => {
  const hash = await hashPassword('a long enough sentence', 'one')
  t.true(await isPassword('a long enough sentence', hash, 'another'))
  t.false(await isPassword('another sentence', hash, 'another'))
})
