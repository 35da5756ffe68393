import { generateKeyPairSync } from 'node:crypto'
import test from 'ava'
import { z } from 'zod'
import { requestPlace, withoutSecrets } from '../../../../src/app/audit/mask.ts'
import { createConfigBody } from '../../../../src/features/configs/config.schema.ts'
import { createGuardrailBody } from '../../../../src/features/guardrails/guardrail.schema.ts'
import { createIntegrationBody } from '../../../../src/features/integrations/integration.schema.ts'
import { containingSecrets, secretField } from '../../../../src/lib/json/secret-fields.ts'
import { Secret } from '../../../../src/lib/secret.ts'

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

const canary = 'canary-0123456789'
const hide = (value: unknown, schema: z.ZodType) => withoutSecrets(value, () => '[hidden]', requestPlace(schema))

test('a field is secret because its schema says so, whatever it is called', (t) => {
  const mark = secretField(z.string())
  const schema = z.strictObject({
    colour: mark.optional(),
    shapes: z.array(z.union([z.number(), z.strictObject({ edge: mark.nullable() })])),
    shades: z.record(z.string(), mark),
    whole: secretField(z.looseObject({ size: z.number() })),
    plain: z.string(),
  })
  const value = {
    colour: canary,
    shapes: [1, { edge: canary }],
    shades: { dark: canary },
    whole: { size: 7, more: [canary] },
    plain: 'seen',
  }
  const hidden = '[hidden]'
  t.deepEqual(hide(value, schema), {
    colour: hidden,
    shapes: [1, { edge: hidden }],
    shades: { dark: hidden },
    whole: { size: hidden, more: [hidden] },
    plain: 'seen',
  })
})

test('a schema finds secrets by what a value contains, also deep within another one', (t) => {
  const inner = containingSecrets(z.looseObject({ is: z.string() }), (value) => [[String(Reflect.get(Object(value), 'is')), 'text']])
  const value = { list: [{ is: 'a', a: { text: canary, other: 1 }, b: { text: 'seen' } }] }
  t.deepEqual(hide(value, z.object({ list: z.array(inner) })), {
    list: [{ is: 'a', a: { text: '[hidden]', other: 1 }, b: { text: 'seen' } }],
  })
})

const checks = [{ id: 'default.webhook', parameters: { webhookURL: `https://a.test/b?c=${canary}`, headers: { 'x-any': canary } } }]
const requests: Readonly<Record<string, readonly [z.ZodType, unknown]>> = {
  'a guardrail': [createGuardrailBody, { name: 'a', checks }],
  'inline guardrails of a target': [
    createConfigBody,
    {
      config: {
        targets: [
          { input_guardrails: [{ 'default.webhook': checks[0]?.parameters }] },
          { api_key: canary, before_request_hooks: [{ type: 'guardrail', checks }] },
        ],
      },
    },
  ],
  'configurations of an integration': [
    createIntegrationBody,
    { key: canary, configurations: { custom_headers: { 'x-any': canary }, aws_secret_access_key: canary } },
  ],
}
for (const [name, [schema, value]] of Object.entries(requests))
  test(`no part of a secret stays in ${name}`, (t) => {
    const text = JSON.stringify(hide(value, schema))
    t.false(text.includes(canary), text)
    t.true(text.includes('[hidden]'))
  })

test('a secret URL keeps its origin alone, and the value of a secret column is replaced', (t) => {
  const url = 'https://user:pass@hooks.test/services/T0/B0/abcdef'
  t.deepEqual(hide({ url, columns: { url: new Secret(url), none: new Secret('text') } }, z.object({ url: secretField(z.string()) })), {
    url: 'https://hooks.test/[hidden]',
    columns: { url: 'https://hooks.test/[hidden]', none: '[hidden]' },
  })
})
