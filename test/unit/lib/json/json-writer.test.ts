import test from 'ava'
import fc from 'fast-check'
import { JsonWriter } from '../../../../src/lib/json/json-writer.ts'

const text = ({ bytes, end }: JsonWriter, from = 0): string => bytes.toString('utf8', from, end)

function written(value: unknown): string {
  const json = new JsonWriter()
  json.value(value)
  return text(json)
}

test('writes what JSON.stringify writes', (t) => {
  for (const value of [
    0,
    -0,
    1,
    9,
    10,
    2 ** 31 - 1,
    2 ** 31,
    1_763_890_000_123,
    Number.MAX_SAFE_INTEGER,
    1e21,
    -5,
    0.1,
    0.001,
    1.25,
    12.3,
    0.0001,
    2_147_483.647,
    2_147_483.648,
    5e-324,
    Number.NaN,
    Infinity,
    null,
    true,
    false,
    '',
    'a"b\\c\n\u007f',
    'ä€😀\uD800',
    'x'.repeat(199) + '"',
    'x'.repeat(100_000),
    [],
    [[], {}, [undefined, null]],
    { a: undefined, b: [1, { c: 'd' }], '"': 1 },
    Object.assign(Object.create(null), { e: 1 }),
    new Date(0),
    { at: new Date(0) },
  ])
    t.is(written(value), JSON.stringify(value))
})

test('writes any JSON value, and any duration, as JSON.stringify does', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.double({ noDefaultInfinity: true, noNaN: true }), fc.nat(2 ** 31), (value, any, thousandths) => {
      const all = [value, any, thousandths / 1000, thousandths]
      t.is(written(all), JSON.stringify(all))
    }),
  )
})

test('what JSON has not is refused as JSON.stringify refuses it', (t) => {
  t.throws(() => written(1n), { instanceOf: TypeError })
})

test('commas come by themselves, lines and reserved bytes stay apart, and a writer begins anew', (t) => {
  const json = new JsonWriter({ reserved: 3 })
  for (let round = 0; round < 2; round += 1) {
    json.reset()
    json.open('{')
    json.member('a', 1)
    json.member('left out', undefined)
    json.member('b', ['x', { y: null }])
    json.close('}')
    json.line()
    json.open('[')
    json.value('c')
    json.open('[')
    json.close(']')
    json.value(2)
    json.close(']')
    t.is(text(json, 3), '{"a":1,"b":["x",{"y":null}]}\n["c",[],2]')
  }
})

test('memory grows with what is written, and is given back', (t) => {
  const json = new JsonWriter()
  const long = Array.from({ length: 3000 }, () => 'é'.repeat(300))
  json.value(long)
  t.is(text(json), JSON.stringify(long))
  json.reset()
  t.true(json.bytes.length < 100_000)
})
