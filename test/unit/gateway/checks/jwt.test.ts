import test from 'ava'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { fakeEgress, ok } from '../credentials/fake-egress.ts'
import { judge, readied } from './running.ts'

const url = 'https://issuer.test/keys'
const start = 1_900_000_000_000

interface Signer {
  readonly jwk: JWK
  readonly sign: (claims?: object, header?: object) => Promise<string>
}

async function signer(alg: string, kid: string): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), kid, alg }
  const seconds = start / 1000
  return {
    jwk,
    sign: (claims = {}, header = {}) =>
      new SignJWT({ iss: 'https://issuer.test', aud: 'gateway', sub: 'u1', iat: seconds, exp: seconds + 600, ...claims })
        .setProtectedHeader({ alg, kid, ...header })
        .sign(privateKey),
  }
}

const [rsa, pss, ec, ed, next] = await Promise.all([
  signer('RS256', 'rsa'),
  signer('PS256', 'pss'),
  signer('ES256', 'ec'),
  signer('EdDSA', 'ed'),
  signer('RS256', 'next'),
])
const inline = { keys: [rsa.jwk, pss.jwk, ec.jwk, ed.jwk] }

const run = async (parameters: object, token: string, now = start) =>
  judge(readied('default.jwt', { jwks: inline, ...parameters }), { headers: { authorization: `Bearer ${token}` }, now: () => now })

const passes = test.macro(async (t, parameters: object, token: () => Promise<string>, passed: boolean, now?: number) => {
  const verdict = await run(parameters, await token(), now ?? start)
  t.is(verdict.passed, passed, JSON.stringify(verdict.data))
})

for (const [name, { sign }] of Object.entries({ RS256: rsa, PS256: pss, ES256: ec, EdDSA: ed })) {
  test(`${name} is believed when it is asked for`, passes, { algorithms: [name] }, () => sign(), true)
  test(`${name} is not believed when others are asked for`, passes, { algorithms: ['RS384', 'ES512'] }, () => sign(), false)
}
test('RS256 alone unless said otherwise', passes, {}, () => ec.sign(), false)
test('a token that is not signed', passes, {}, async () => `${btoa('{"alg":"none"}')}.${(await rsa.sign()).split('.')[1]}.`, false)
test(
  'a token whose claims were changed',
  passes,
  {},
  async () => (await rsa.sign()).replace(/\.[^.]+\./, `.${btoa('{"exp":9999999999}').replaceAll('=', '')}.`),
  false,
)
test('a key that is not known', passes, {}, () => next.sign(), false)
test('no token at all', passes, {}, () => Promise.resolve(''), false)
test('the issuer', passes, { issuer: 'https://issuer.test' }, () => rsa.sign(), true)
test('another issuer', passes, { issuer: ['https://a.test', 'https://b.test'] }, () => rsa.sign(), false)
test('one of several audiences', passes, { audience: ['x', 'gateway'] }, () => rsa.sign({ aud: ['y', 'gateway'] }), true)
test('no audience', passes, { audience: 'gateway' }, () => rsa.sign({ aud: undefined }), false)
test('another audience', passes, { audience: 'gateway' }, () => rsa.sign({ aud: 'gateway2' }), false)
test('an expired token', passes, { clockTolerance: 0 }, () => rsa.sign(), false, start + 600_000)
test('within the tolerance', passes, { clockTolerance: 30 }, () => rsa.sign(), true, start + 620_000)
test('a token without an end', passes, {}, () => rsa.sign({ exp: undefined }), false)
test('a token that is too old', passes, { maxTokenAge: '5m' }, () => rsa.sign(), false, start + 400_000)
test('required claims', passes, { requiredClaims: ['sub', 'team'] }, () => rsa.sign(), false)
test(
  'values of claims',
  passes,
  { claimValues: { scope: { values: ['b'], matchType: 'contains' } } },
  () => rsa.sign({ scope: 'a b' }),
  true,
)
test('other values of claims', passes, { claimValues: { sub: { values: ['u2'] } } }, () => rsa.sign(), false)
test('header and claims that agree', passes, { headerPayloadMatch: ['tenant'] }, () => rsa.sign({ tenant: 't' }, { tenant: 't' }), true)
test('header and claims that differ', passes, { headerPayloadMatch: ['tenant'] }, () => rsa.sign({ tenant: 't' }, { tenant: 'u' }), false)

test('claims go on as headers, and those of the caller with such names do not', async (t) => {
  const verdict = await run({ extractClaims: ['sub', 'org.id'], claimPrefix: 'X-User-' }, await rsa.sign({ 'org.id': { a: 1 } }))
  t.deepEqual(verdict.headers, { added: ['x-user-sub', 'u1', 'x-user-org-id', '{"a":1}'], replaces: 'x-user-' })
})

test('keys are fetched once, kept as long as said, and asked for again no sooner than every half minute', async (t) => {
  let now = start
  const published = { keys: [rsa.jwk] }
  const egress = fakeEgress(() => ok(published))
  const ready = readied('default.jwt', { jwksUri: url, cacheMaxAge: 3600, clockTolerance: 3600 })
  const ask = async (token: string) => (await judge(ready, { headers: { authorization: token }, egress, now: () => now })).passed
  const good = await rsa.sign()
  t.deepEqual(await Promise.all([ask(good), ask(good), ask(good)]), [true, true, true])
  t.is(egress.asked.length, 1)
  const unknown = await next.sign()
  for (let i = 0; i < 20; i += 1) t.false(await ask(unknown))
  t.is(egress.asked.length, 1, 'the cooldown holds')
  published.keys.push(next.jwk)
  now += 31_000
  t.true(await ask(unknown))
  t.is(egress.asked.length, 2)
  now += 3_500_000
  t.true(await ask(good))
  t.is(egress.asked.length, 2)
  now += 200_000
  t.true(await ask(good))
  t.is(egress.asked.length, 3, 'they were too old')
})

test('while the issuer is away the keys that were good serve on; without any the check fails itself', async (t) => {
  let now = start
  let away = false
  const egress = fakeEgress(() => (away ? { ...ok({}), status: 503 } : ok({ keys: [rsa.jwk] })))
  const ready = readied('default.jwt', { jwksUri: url, cacheMaxAge: 60, clockTolerance: 3600 })
  const ask = async () => judge(ready, { headers: { authorization: await rsa.sign() }, egress, now: () => now })
  t.true((await ask()).passed)
  away = true
  now += 120_000
  t.true((await ask()).passed)
  const none = fakeEgress(() => ({ ...ok({}), status: 503 }))
  const token = await rsa.sign()
  await t.throwsAsync(judge(ready, { headers: { authorization: token }, egress: none, now: () => now }), { message: /answered 503/ })
})

const issuerUrl = 'https://issuer.test/introspect'
const said = { active: true, iss: 'https://issuer.test', aud: ['x', 'gateway'], sub: 'u1', iat: start / 1000 }

const asked = test.macro(async (t, parameters: object, answer: object, passed: boolean, token?: () => Promise<string>) => {
  const egress = fakeEgress(() => ok(answer))
  const authorization = token === undefined ? 'an-opaque-token' : await token()
  const ready = readied('default.jwt', { introspectEndpoint: issuerUrl, ...parameters })
  const verdict = await judge(ready, { headers: { authorization }, egress, now: () => start + 60_000 })
  t.is(verdict.passed, passed, JSON.stringify(verdict.data))
  t.is(egress.asked.length, 1)
})

test('what the issuer says is enough', asked, {}, said, true)
test('what the issuer says: not active', asked, {}, { active: false }, false)
test('what the issuer says: issuer and audience', asked, { issuer: 'https://issuer.test', audience: 'gateway' }, said, true)
test('what the issuer says: another issuer', asked, { issuer: 'https://issuer.test' }, { ...said, iss: 'https://evil.test' }, false)
test('what the issuer says: no issuer', asked, { issuer: 'https://issuer.test' }, { active: true }, false)
test('what the issuer says: another audience', asked, { audience: ['a', 'b'] }, said, false)
test('what the issuer says: no audience', asked, { audience: 'gateway' }, { active: true }, false)
test('what the issuer says: not too old', asked, { maxTokenAge: '2m' }, said, true)
test('what the issuer says: too old', asked, { maxTokenAge: '30s' }, said, false)
test('what the issuer says: of no age', asked, { maxTokenAge: '1d' }, { active: true }, false)
test('what the issuer says: of any age', asked, {}, { ...said, iat: 1 }, true)
test('what the issuer says: algorithms of a token without one', asked, { algorithms: ['RS256'] }, said, false)
test('what the issuer says: another algorithm', asked, { algorithms: ['RS256'] }, said, false, () => ec.sign())
test('what the issuer says: the algorithm', asked, { algorithms: ['ES256'] }, said, true, () => ec.sign())
test('what the issuer says: a header that is not there', asked, { headerPayloadMatch: ['sub'] }, said, false)
test('keys and the issuer: both agree', asked, { jwks: inline }, said, true, () => rsa.sign())
test('keys and the issuer: a token that was revoked', asked, { jwks: inline }, { active: false }, false, () => rsa.sign())

test("a workspace's guardrail asks nobody about what may be any credential, unless keys say that it is a token", async (t) => {
  const egress = fakeEgress(() => ok(said))
  const ask = (parameters: object, header: string, value: string) =>
    judge(readied('default.jwt', { introspectEndpoint: issuerUrl, ...parameters }), {
      headers: { [header]: value },
      egress,
      now: () => start + 60_000,
      passesCredentials: false,
    })
  t.regex(String((await ask({}, 'authorization', 'Bearer sk-provider')).data?.['explanation']), /Only a guardrail of the organisation/)
  t.false((await ask({ headerKey: 'X-Api-Key' }, 'x-api-key', 'sk-provider')).passed)
  t.is(egress.asked.length, 0)
  t.true((await ask({ headerKey: 'x-session' }, 'x-session', 'opaque')).passed)
  t.true((await ask({ jwks: inline }, 'authorization', await rsa.sign())).passed)
  t.is(egress.asked.length, 2)
})

test('keys and the issuer: a token that is not signed well is not asked about', async (t) => {
  const ready = readied('default.jwt', { introspectEndpoint: issuerUrl, jwks: inline })
  const verdict = await judge(ready, { headers: { authorization: await next.sign() }, now: () => start })
  t.false(verdict.passed)
})
