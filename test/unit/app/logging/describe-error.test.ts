import test from 'ava'
import { describeError } from '../../../../src/app/logging/describe-error.ts'
import { scrubSecrets } from '../../../../src/lib/text/secret-shapes.ts'

test('an error is told with its causes, without secrets and without the statement that failed', (t) => {
  const sql = Object.assign(
    new Error(`insert into "api_keys" ("hash") values ('sk-abcdefghijklmnopq') - duplicate key value violates "api_keys_key"`),
    { code: '23505' },
  )
  const told = describeError(new TypeError('outer gh-AbCdEfGhIjKlMnOpQr', { cause: sql }))
  t.is(told.type, 'TypeError')
  t.is(told.message, 'outer [secret]')
  t.like(told.cause, { code: '23505', message: 'duplicate key value violates "api_keys_key"' })
  t.regex(told.stack ?? '', /^ {4}at /)
  t.notRegex(JSON.stringify(told), /sk-abc|insert into/)
})

test('a chain of causes ends, and what is no error is told too', (t) => {
  const loop = new Error('loop')
  loop.cause = loop
  t.notThrows(() => JSON.stringify(describeError(loop)))
  t.deepEqual(describeError('plain sk-abcdefghijklmnopq'), { type: 'string', message: 'plain [secret]' })
})

const secrets = [
  'sk-abcdefghijklmnopq',
  'sk-proj-abc_def-ghijklmnop',
  'gh-0123456789abcdef',
  'AKIAABCDEFGHIJKLMNOP',
  'AIzaSyA1234567890abcdefghijklmnopqrstuv',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
  'Bearer abcdefgh12345',
  '-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----',
]

test('every usual shape of a secret is scrubbed, and nothing around it', (t) => {
  for (const secret of secrets) t.is(scrubSecrets(`before ${secret} after`), 'before [secret] after')
  for (const login of ['user:pass', 'user:p@ss', 'token-alone', ':pass'])
    t.is(scrubSecrets(`postgres://${login}@host/db`), 'postgres://[secret]@host/db')
  for (const text of ['the task-force of sketches', 'a key-value store', 'token 12', 'bearer of news', 'https://host/a@b?c=d@e'])
    t.is(scrubSecrets(text), text)
})
