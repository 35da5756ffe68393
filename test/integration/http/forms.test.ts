// Routes of standards take forms beside JSON: fields are texts, and a form is bounded in bytes and in fields.
import { gzipSync } from 'node:zlib'
import test from 'ava'
import { z } from 'zod'
import { feature } from '../../../src/app/feature.ts'
import { route } from '../../../src/app/route.ts'
import { features } from '../../../src/features/index.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { send } from '../../support/http.ts'

const forms = feature({
  id: 'forms',
  since: '1.0.0',
  permissions: ['workspaces.update'],
  entities: [],
  routes: [
    route({
      method: 'POST',
      path: '/forms/echo',
      summary: 'Echo the fields of a form',
      permission: 'workspaces.update',
      resource: 'form',
      effect: 'none',
      takes: 'form',
      body: z.record(z.string(), z.unknown()),
      response: z.object({ fields: z.record(z.string(), z.unknown()) }),
    })(async ({ body }) => ({ fields: body })),
  ],
})

let app: TestApp
test.before(async () => {
  app = await startApp({ features: [...features, forms], env: { MAX_JSON_PAYLOAD_SIZE_IN_MB: '1' } })
})
test.after.always(() => app.stop())

const form = 'application/x-www-form-urlencoded'
const ask = (body: string | Uint8Array, headers: Readonly<Record<string, string>> = { 'content-type': form }) =>
  send(`${app.baseUrl}/v1/forms/echo`, { method: 'POST', headers: { 'x-service-api-key': app.adminKey, ...headers }, body })

const taken: readonly (readonly [what: string, body: string, fields: Readonly<Record<string, string>>])[] = [
  ['two fields', 'token=a.b-c_d&hint=access_token', { token: 'a.b-c_d', hint: 'access_token' }],
  ['base64, and a path', 'SAMLResponse=PHNhbWw%2BPA%3D%3D&RelayState=%2Fx%3Fy%3D1', { SAMLResponse: 'PHNhbWw+PA==', RelayState: '/x?y=1' }],
  ['spaces and letters beyond ASCII', 'a=x+y%20z&b=%C3%BC', { a: 'x y z', b: 'ü' }],
  ['the last of a name', 'a=1&a=2', { a: '2' }],
  ['names with dots and brackets', 'a.b=1&a%5Bb%5D=2', { 'a.b': '1', 'a[b]': '2' }],
  ['fields without a value', 'a&b=', { a: '', b: '' }],
  ['thousands of characters', `a=${'x'.repeat(100_000)}`, { a: 'x'.repeat(100_000) }],
]
for (const [what, body, fields] of taken)
  test(`takes ${what}`, async (t) => {
    const answer = await ask(body)
    t.is(answer.status, 200, answer.text)
    t.deepEqual(JSON.parse(answer.text), { fields })
  })

test('takes a compressed form, and JSON in its place', async (t) => {
  const zipped = await ask(gzipSync('a=1'), { 'content-type': form, 'content-encoding': 'gzip' })
  t.deepEqual([zipped.status, JSON.parse(zipped.text)], [200, { fields: { a: '1' } }])
  const json = await ask('{"a":"1"}', { 'content-type': 'application/json' })
  t.deepEqual([json.status, JSON.parse(json.text)], [200, { fields: { a: '1' } }])
})

const many = Array.from({ length: 1001 }, (_, at) => `k${at}=v`).join('&')
const refused: readonly (readonly [what: string, body: Uint8Array | string, headers: Readonly<Record<string, string>>, status: number])[] =
  [
    ['too many fields', many, { 'content-type': form }, 400],
    ['too many bytes', `a=${'x'.repeat(1_100_000)}`, { 'content-type': form }, 413],
    ['a small form that inflates', gzipSync(Buffer.alloc(50_000_000, 0x61)), { 'content-type': form, 'content-encoding': 'gzip' }, 413],
    ['an unknown encoding', 'a=1', { 'content-type': form, 'content-encoding': 'zip' }, 415],
    ['another type', 'a=1', { 'content-type': 'text/plain' }, 415],
  ]
for (const [what, body, headers, status] of refused)
  test(`refuses ${what}`, async (t) => {
    const answer = await ask(body, headers)
    t.is(answer.status, status, answer.text)
  })
