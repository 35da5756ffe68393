import test from 'ava'
import { z } from 'zod'
import { withoutSecrets } from '../../../../../src/app/audit/mask.ts'
import { parseInput } from '../../../../../src/app/http/routes/input.ts'
import { isSecretName } from '../../../../../src/lib/text/secret-names.ts'
import { ApiError } from '../../../../../src/lib/errors.ts'

const secretNames = [
  'key',
  'api_key',
  'secret',
  'client_secret',
  'aws_secret_access_key',
  'aws_access_key_id',
  'password',
  'authorization',
  'custom_headers',
  'vertex_service_account_json',
  'private_key',
  'token',
  'azure_entra_client_secret',
]
const plainNames = [
  'name',
  'slug',
  'key_type',
  'api_key_id',
  'key_hint',
  'masked_key',
  'max_tokens',
  'total_tokens',
  'description',
  'token_count',
  'workspace_id',
]

test('names that may hold a secret are known, others are not', (t) => {
  t.deepEqual(
    secretNames.filter((name) => !isSecretName(name)),
    [],
  )
  t.deepEqual(
    plainNames.filter((name) => isSecretName(name)),
    [],
  )
})

test('secrets are replaced by name above them and by shape, and the rest stays', (t) => {
  const body = {
    name: 'n',
    key: 'k',
    configurations: { aws_region: 'eu', custom_headers: { 'x-a': 'v' } },
    list: [{ password: 1 }, 'AKIAABCDEFGHIJKLMNOP', null, true],
    note: 'call with Bearer abcdefghijkl',
    conditions: [{ key: 'metadata.team', value: { key: 'k' } }],
  }
  t.deepEqual(
    withoutSecrets(body, (secret) => `<${secret}>`),
    {
      name: 'n',
      key: '<k>',
      configurations: { aws_region: 'eu', custom_headers: { 'x-a': '<v>' } },
      list: [{ password: '<1>' }, '<AKIAABCDEFGHIJKLMNOP>', null, true],
      note: '<call with Bearer abcdefghijkl>',
      conditions: [{ key: 'metadata.team', value: { key: '<k>' } }],
    },
  )
})

test('no schema, no input', (t) => {
  t.is(parseInput(undefined, { a: 1 }, { place: 'body', level: '1.12.0' }), undefined)
})

test('a record with a wrong value names its key', (t) => {
  const schema = z.strictObject({ metadata: z.record(z.string(), z.string().max(3)) })
  const error = t.throws(() => parseInput(schema, { metadata: { ok: 'a', long: 'abcd' } }, { place: 'body', level: '1.12.0' }), {
    instanceOf: ApiError,
  })
  t.is(error?.param, 'metadata.long')
  t.regex(error?.message ?? '', /`metadata\.long`: must have at most 3 characters.*got "abcd"/)
})

const refusals: readonly (readonly [value: unknown, says: RegExp])[] = [
  [{ conditions: [{ key: 'model' }, { key: 'model' }] }, /`conditions`.*\(got \[\{"key":"model"\},\{"key":"model"\}\]\)/],
  [{ conditions: [{ key: 'modle' }] }, /`conditions\[0\]\.key`.*\(got "modle"\)/],
  [{ conditions: [{ key: 'model' }], key: ['sk'] }, /`key`: [^(]*$/],
  [[{ key: 'model' }], /got \[\{"key":"\[secret\]"\}\]/],
]
test('a refusal shows what came, but for what may be a secret', (t) => {
  const conditions = z.array(z.object({ key: z.enum(['model', 'provider']) })).max(1)
  const schema = z.strictObject({ conditions, key: z.string().optional() })
  for (const [value, says] of refusals)
    t.regex(t.throws(() => parseInput(schema, value, { place: 'body', level: '1.12.0' }))?.message ?? '', says)
})

test('a circular or unprintable value does not break the message', (t) => {
  const error = t.throws(() => parseInput(z.object({ a: z.string() }), { a: undefined }, { place: 'query', level: '1.12.0' }), {
    instanceOf: ApiError,
  })
  t.is(error?.message, 'The query is not valid: `a`: expected a string (missing).')
})
