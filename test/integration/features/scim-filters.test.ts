// Strange filters: each is answered or refused, and shows no person of another organisation.
import test from 'ava'
import fc from 'fast-check'
import { enterprise, scimClient, userSchema, type ScimClient } from './scim-client.ts'
import { startControl, type Control } from './setup.ts'

let control: Control
let client: ScimClient
const own = new Set<string>()

test.before(async () => {
  control = await startControl()
  client = await scimClient(control, await control.createTenant('own'))
  const other = await scimClient(control, await control.createTenant('other'))
  for (const name of ['ada', 'bea']) {
    const body = { userName: `${name}@example.com`, title: 'Countess', emails: [{ value: `${name}@example.com`, type: 'work' }] }
    own.add((await client.send('POST', '/Users', { body })).body.id)
    await other.send('POST', '/Users', { body })
  }
  const members = [...own].map((value) => ({ value }))
  own.add((await client.send('POST', '/Groups', { body: { displayName: 'Own', members } })).body.id)
  await other.send('POST', '/Groups', { body: { displayName: 'Own' } })
})
test.after.always(() => control?.close())

const names = [
  'userName',
  'USERNAME',
  'title',
  'active',
  'emails',
  'emails.value',
  'emails.type',
  'name.familyName',
  'meta.created',
  'id',
  'externalId',
  'displayName',
  'members',
  'members.value',
  'password',
  '__proto__',
  'constructor',
  `${userSchema}:userName`,
  `${enterprise}:department`,
  'groups',
]
const path = fc.oneof(fc.constantFrom(...names), fc.stringMatching(/^[A-Za-z$][\w.:$-]{0,20}$/))
const text = fc.oneof(fc.string(), fc.constantFrom("' OR 1=1 --", '?', '$1', '\\u0000', '\0', '%', '\\', '"', 'ada@example.com', '\ud800'))
const value = fc.oneof(
  text.map((given) => JSON.stringify(given)),
  text.map((given) => `"${given}"`),
  fc.double().map(String),
  fc.constantFrom('true', 'False', 'null', '"2020-01-01T00:00:00Z"', '99999999999999999999', '1e999', '-0'),
)
const operator = fc.constantFrom('eq', 'ne', 'co', 'sw', 'ew', 'gt', 'lt', 'ge', 'le', 'Eq', 'is', '')

const { filter } = fc.letrec<{ filter: string; term: string }>((tie) => ({
  term: fc.oneof(
    { depthSize: 'small' },
    fc.tuple(path, operator, value).map((parts) => parts.join(' ')),
    path.map((name) => `${name} pr`),
    fc
      .tuple(path, tie('filter'), fc.option(fc.tuple(path, operator, value)))
      .map(([name, inner, behind]) => `${name}[${inner}]${behind === null ? '' : `.${behind.join(' ')}`}`),
    tie('filter').map((inner) => `not (${inner})`),
    tie('filter').map((inner) => `(${inner})`),
  ),
  filter: fc.oneof(
    { depthSize: 'small' },
    tie('term'),
    fc.tuple(tie('term'), fc.constantFrom('and', 'or', 'AND'), tie('filter')).map((parts) => parts.join(' ')),
  ),
}))

for (const [kind, given] of [
  ['of the grammar', filter],
  ['of any text', fc.string({ maxLength: 200, unit: 'binary' })],
] as const)
  test(`filters ${kind} are answered or refused, and stay in their organisation`, async (t) => {
    await fc.assert(
      fc.asyncProperty(given, fc.constantFrom('/Users', '/Groups'), fc.constantFrom(...names), async (sent, of, sortBy) => {
        const query = new URLSearchParams({ filter: sent.toWellFormed(), sortBy })
        const { status, body } = await client.send('GET', `${of}?${query.toString()}`)
        if (status !== 200) return status === 400 && body.schemas[0] === 'urn:ietf:params:scim:api:messages:2.0:Error'
        const found: readonly { id: string }[] = body.Resources
        return found.every(({ id }) => own.has(id))
      }),
      { numRuns: 200 },
    )
    t.pass()
  })

test('a page has at most 200 users, however many are asked for', async (t) => {
  const tenant = await control.createTenant('pages')
  const many = await scimClient(control, tenant)
  await control.sql.query(
    `INSERT INTO users (id, organisation_id, email, role)
     SELECT gen_random_uuid(), $1, 'user-' || n || '@example.com', 'member' FROM generate_series(1, 203) n`,
    [tenant.organisationId],
  )
  for (const count of ['201', '1000000', '99999999999999999999'])
    t.like((await many.send('GET', `/Users?count=${count}`)).body, { totalResults: 203, itemsPerPage: 200, startIndex: 1 })
  t.like((await many.send('GET', '/Users?count=500&startIndex=201')).body, { totalResults: 203, itemsPerPage: 3, startIndex: 201 })
})
