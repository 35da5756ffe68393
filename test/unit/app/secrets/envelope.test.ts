import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import test from 'ava'
import { keyVersionOf, open, seal } from '../../../../src/app/secrets/envelope.ts'

const key = { version: 7, bytes: randomBytes(32) }
const place = { organisationId: 'o', table: 't', column: 'c', rowId: 'r' }
const sealed = seal(key, place, Buffer.from('sk-secret'))
const parts = ['organisationId', 'table', 'column', 'rowId'] as const

const isSame = (a: typeof place, b: typeof place) => parts.every((part) => a[part] === b[part])

test('opens where it was sealed, with its key, and names that key', (t) => {
  t.is(open(key, place, sealed).toString(), 'sk-secret')
  t.is(keyVersionOf(sealed), 7)
  t.is(open(key, place, seal(key, place, Buffer.alloc(0))).length, 0)
})

test('the same text is never sealed the same way', (t) => {
  t.is(new Set(Array.from({ length: 100 }, () => seal(key, place, Buffer.from('x')).toString('hex'))).size, 100)
})

test('any bit flipped: refused', (t) => {
  for (let bit = 0; bit < sealed.length * 8; bit += 1) {
    const changed = Buffer.from(sealed)
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    t.throws(() => open(key, place, changed), undefined, `bit ${bit}`)
  }
})

test('cut short at any length, or with more behind: refused', (t) => {
  for (let length = 0; length < sealed.length; length += 1)
    t.throws(() => open(key, place, sealed.subarray(0, length)), undefined, `length ${length}`)
  t.throws(() => open(key, place, Buffer.concat([sealed, Buffer.from([0])])))
})

for (const part of parts) {
  test(`at another ${part}: refused`, (t) => {
    t.throws(() => open(key, { ...place, [part]: 'other' }, sealed))
  })
}

test('another key, or the same bytes under another number: refused', (t) => {
  t.throws(() => open({ version: 7, bytes: randomBytes(32) }, place, sealed))
  t.throws(() => open({ ...key, version: 8 }, place, sealed))
})

test('no two places share an encoding, however the parts are cut', (t) => {
  const text = fc.string({ maxLength: 4 })
  const anyPlace = fc.record({ organisationId: text, table: text, column: text, rowId: text })
  t.notThrows(() =>
    fc.assert(
      fc.property(anyPlace, anyPlace, (a, b) => {
        fc.pre(!isSame(a, b))
        try {
          open(key, b, seal(key, a, Buffer.from('x')))
          return false
        } catch {
          return true
        }
      }),
    ),
  )
  const shifted = { organisationId: 'o', table: 'tc', column: '', rowId: 'r' }
  t.throws(() => open(key, shifted, sealed))
})
