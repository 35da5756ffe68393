import { generateKeyPairSync } from 'node:crypto'
import test from 'ava'
import { withoutSecrets } from '../../../../src/app/audit/mask.ts'

const keys = [
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
  generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }),
  { kty: 'oct', k: 'c2VjcmV0LW9mLWEtc3ltbWV0cmljLWtleQ' },
]
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']

for (const key of keys)
  test(`the members of a private key are hidden wherever it stands: ${key.kty}`, (t) => {
    for (const [name, value] of [
      ['alone', { client_jwks: key }],
      ['in a set', { client_jwks: { keys: [key] } }],
      ['in a set under another name', { anything: { keys: [key] } }],
      ['in a list', [key]],
      ['deep', { settings: { a: [{ b: key }] } }],
    ] as const) {
      const text = JSON.stringify(withoutSecrets(value, () => '[hidden]'))
      for (const member of secretMembers) {
        const secret: unknown = Reflect.get(key, member)
        if (typeof secret === 'string') t.false(text.includes(secret), `${name}: ${member}`)
      }
      t.true(text.includes('[hidden]'), name)
    }
  })

test('a public key stays readable, and so do such names elsewhere', (t) => {
  const { n, e, kty } = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' })
  for (const value of [{ settings: { jwk: { kty, n, e, kid: 'one' } } }, { q: 'a search', d: 'a day', p: 1 }])
    t.deepEqual(
      withoutSecrets(value, () => '[hidden]'),
      value,
    )
})
