import test from 'ava'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { remoteKeys } from '../../../../../src/gateway/key-sets/jwks.ts'
import { fakeEgress, ok } from '../../credentials/fake-egress.ts'

test('whoever names many key sets pushes out none of another organisation', async (t) => {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const key = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' }
  const egress = fakeEgress(() => ok({ keys: [key] }))
  const header = { alg: 'ES256', kid: 'k' }
  const [protectedPart = '', payload = '', signature = ''] = (await new SignJWT({}).setProtectedHeader(header).sign(privateKey)).split('.')
  const token = { protected: protectedPart, payload, signature }
  const find = (owner: string, url: string) =>
    remoteKeys({ egress, owner, url, maxAgeMs: 60_000, timeoutMs: 1000, now: () => 1_000_000 })(header, token)
  await find('good', 'https://issuer.example/keys')
  for (let i = 0; i < 1100; i += 1) await find('hostile', `https://issuer.example/${i}`)
  const asked = egress.asked.length
  await find('good', 'https://issuer.example/keys')
  t.is(egress.asked.length, asked)
  await find('hostile', 'https://issuer.example/1')
  t.is(egress.asked.length, asked + 1)
})
