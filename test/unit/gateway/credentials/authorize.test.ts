import test from 'ava'
import { authorize } from '../../../../src/gateway/credentials/authorize.ts'
import { bearer, header, noAuth, scheme, type Auth } from '../../../../src/gateway/providers/provider.ts'
import { ApiError, type ErrorCode } from '../../../../src/lib/errors.ts'
import { noEgress } from './fake-egress.ts'

const ask = (auth: Auth, key: string | null, path = '/v1/models', fields: Readonly<Record<string, string>> = {}) =>
  authorize(
    { auth, credential: { key, fields }, method: 'GET', url: { origin: 'https://api.example.com', path }, headers: [], body: null },
    { egress: noEgress(), now: () => 0 },
  )

const gives = test.macro({
  exec(t, auth: Auth, key: string | null, expected: { headers?: readonly string[]; path?: string }, path?: string) {
    t.deepEqual(ask(auth, key, path), { headers: expected.headers ?? [], path: expected.path ?? '/v1/models' })
  },
  title: (name = '') => `gives, at once: ${name}`,
})

test('bearer', gives, bearer, 'k', { headers: ['authorization', 'Bearer k'] })
test('another scheme', gives, scheme('Key'), 'k', { headers: ['authorization', 'Key k'] })
test('header', gives, header('x-api-key'), 'k', { headers: ['x-api-key', 'k'] })
test('header with prefix', gives, header('api-key', 'Token '), 'k', { headers: ['api-key', 'Token k'] })
test('nothing', gives, noAuth, null, {})
test('a key where none is needed', gives, noAuth, 'k', { headers: ['authorization', 'Bearer k'] })

const refuses = test.macro({
  exec(t, key: string | null, code: ErrorCode) {
    for (const auth of [bearer, scheme('Key'), header('x-api-key')]) {
      const error = t.throws(() => ask(auth, key), { instanceOf: ApiError })
      t.is(error.code, code)
      t.is(error.param, 'authorization')
      t.notRegex(error.message, /canary/)
    }
  },
  title: (name = '') => `refuses ${name}`,
})

test('no key', refuses, null, 'missing_credential')
test('an empty key', refuses, '', 'missing_credential')
test('a key that would add a header', refuses, 'canary\r\nx-evil: 1', 'invalid_request')
test('a key that no header can carry', refuses, 'canary–', 'invalid_request')

test('an account that is stored as one without a key sends none, and one that it has all the same', (t) => {
  const fields = { is_key_required: 'false' }
  for (const auth of [bearer, scheme('Key'), header('x-api-key')])
    t.deepEqual(ask(auth, null, '/v1/models', fields), { headers: [], path: '/v1/models' })
  t.deepEqual(ask(bearer, 'k', '/v1/models', fields), { headers: ['authorization', 'Bearer k'], path: '/v1/models' })
})

test('what a caller brings never signs in with the identity of the process', (t) => {
  for (const [auth, fields, param] of [
    [{ kind: 'google' }, { vertex_auth_type: 'workload' }, 'vertex_auth_type'],
    [{ kind: 'azure' }, { azure_auth_mode: 'workload' }, 'azure_auth_mode'],
    [{ kind: 'azure' }, { azure_auth_mode: 'entraFederated' }, 'azure_auth_mode'],
  ] as const) {
    const error = t.throws(() => ask(auth, 'k', '/v1/models', fields), { instanceOf: ApiError, code: 'forbidden' })
    t.is(error.param, param)
  }
})
