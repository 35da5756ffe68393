import test from 'ava'
import { concealSecret, inTheClear } from '../../../src/lib/plain-secrets.ts'
import { Secret } from '../../../src/lib/secret.ts'

test('secrets pass a copy to another thread, wherever they are, and are secrets again behind it', (t) => {
  const config = {
    name: 'store',
    none: null,
    hosts: ['one', 'other'],
    key: new Secret('first'),
    aws: { keys: { secret: new Secret('second'), session: null }, all: [new Secret('third')] },
  }
  const read: typeof config = JSON.parse(inTheClear(config), concealSecret)
  t.deepEqual(
    [read.key, read.aws.keys.secret, ...read.aws.all].map((secret) => secret.reveal()),
    ['first', 'second', 'third'],
  )
  t.true([read.key, read.aws.keys.secret, ...read.aws.all].every((secret) => secret instanceof Secret))
  t.deepEqual(JSON.stringify(read), JSON.stringify(config))
  t.false(JSON.stringify(read).includes('first'))
})
