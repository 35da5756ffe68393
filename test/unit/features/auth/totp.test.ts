import test from 'ava'
import { newTotpSecret, stepOf, totpUri } from '../../../../src/features/auth/factors/totp.ts'

/** The secret of RFC 6238, appendix B, in base32: the ASCII text 12345678901234567890. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

/** Its table for SHA-1; apps show the last six digits. */
const published: readonly (readonly [seconds: number, code: string])[] = [
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
]

for (const [seconds, code] of published)
  test(`the published code at ${seconds} s`, (t) => {
    t.is(stepOf(code.slice(2), secret, seconds * 1000), Math.floor(seconds / 30))
  })

const late = 2_000_000_000

for (const [off, known] of [
  [-60, false],
  [-30, true],
  [30, true],
  [60, false],
] as const)
  test(`a clock that is ${off} s off ${known ? 'serves' : 'does not'}`, (t) => {
    t.is(stepOf('279037', secret, (late + off) * 1000), known ? Math.floor(late / 30) : null)
  })

test('a secret has 160 bits, and the URI says what an app needs', (t) => {
  const made = newTotpSecret()
  t.regex(made, /^[A-Z2-7]{32}$/)
  t.not(made, newTotpSecret())
  const url = new URL(totpUri(made, { issuer: 'Gatehouse Acme: Ltd', email: 'ana@example.com' }))
  t.is(url.protocol, 'otpauth:')
  t.is(url.host, 'totp')
  t.is(url.searchParams.get('secret'), made)
  t.deepEqual([url.searchParams.get('algorithm'), url.searchParams.get('digits'), url.searchParams.get('period')], ['SHA1', '6', '30'])
  t.is(decodeURIComponent(url.pathname).includes('ana@example.com'), true)
})
