// Lists that the operations of one PATCH make long.
import test from 'ava'
import { patchOf, scimClient, type ScimClient } from './scim-client.ts'
import { startControl, type Control } from './setup.ts'

let control: Control
let client: ScimClient
let path = ''
test.before(async () => {
  control = await startControl()
  client = await scimClient(control, await control.createTenant('lists'))
  const made = await client.send('POST', '/Users', { body: { userName: 'ada@example.com' } })
  path = `/Users/${made.body.id}`
})
test.after.always(() => control?.close())

const addsEmails = (from: number, to: number) => ({
  op: 'add',
  path: 'emails',
  value: Array.from({ length: to - from }, (_, at) => ({ value: `m${from + at}@example.com`, type: 'work' })),
})
const empties = { op: 'remove', path: 'emails' }

const cases: readonly (readonly [name: string, operations: readonly unknown[], status: number])[] = [
  ['as many as a list may have', [addsEmails(0, 600), addsEmails(600, 1000), empties], 200],
  ['one more than that, which is taken out at the end', [addsEmails(0, 600), addsEmails(600, 1001), empties], 400],
  ['the same values again', [addsEmails(0, 600), addsEmails(0, 600), empties], 200],
  [
    'many operations that each add values',
    [...Array.from({ length: 45 }, (_, at) => addsEmails(at * 1000, at * 1000 + 1000)), empties],
    400,
  ],
]
for (const [name, operations, status] of cases)
  test.serial(`a list is bounded at each operation that adds to it: ${name}`, async (t) => {
    const { status: answered, body } = await client.send('PATCH', path, { body: patchOf(empties, ...operations) })
    t.is(answered, status)
    if (status === 400) t.like(body, { scimType: 'invalidValue', detail: '`emails` has more than 1000 values.' })
  })

const adds = (value: string, type: string) => ({ op: 'add', path: 'phoneNumbers', value: { value, type } })
test.serial('values that are named go, and the others stay', async (t) => {
  const some = { op: 'remove', path: 'phoneNumbers', value: [{ value: '1' }, { value: '3' }] }
  const operations = [adds('1', 'work'), adds('2', 'work'), adds('2', 'work'), adds('2', 'home'), some]
  const { body } = await client.send('PATCH', path, { body: patchOf(...operations) })
  t.deepEqual(
    (body.phoneNumbers as readonly { value: string; type: string }[]).map(({ value, type }) => `${value} ${type}`),
    ['2 work', '2 home'],
  )
})
