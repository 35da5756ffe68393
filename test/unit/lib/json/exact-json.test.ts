import test from 'ava'
import fc from 'fast-check'
import { exactJson, exactOrUndefined, parseExact, rememberExact } from '../../../../src/lib/json/exact-json.ts'

/** JSON texts in which JavaScript would change numbers, and the order of keys. */
const number = fc.oneof(
  fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
  fc.constantFrom('1.0', '-0', '0.10', '1e5', '1E400', '-2.50e-3', '9007199254740993', '0', '7', '0.7'),
)
const text = fc.string({ unit: 'binary' }).map((one) => JSON.stringify(one))
const key = fc.oneof(
  fc.nat(3_000_000).map((one) => JSON.stringify(String(one))),
  text,
)
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5 },
    number,
    text,
    fc.constantFrom('true', 'false', 'null'),
    fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .uniqueArray(fc.tuple(key, tie('json')), { maxLength: 4, selector: ([name]) => name })
      .map((fields) => `{${fields.map(([name, value]) => `${name}:${value}`).join(',')}}`),
  ),
}))
const held = json.filter((one) => /^[[{]/.test(one))

test('a text is written as it was read, with all digits and in its order', (t) => {
  fc.assert(fc.property(held, (one) => t.is(exactJson(parseExact(one)), one)))
})

test('white space between tokens falls, as in all JSON that is written', (t) => {
  fc.assert(
    fc.property(held, fc.constantFrom('\n', '\r\n\t', '  '), (one, space) => {
      const spaced = one.replaceAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g, (token) => `${space}${token}${space}`)
      t.is(exactJson(parseExact(spaced)), one)
    }),
  )
})

test('the value is that of any JSON, and a part of it is written as its part of the text', (t) => {
  const whole = '{"a":{"id":2512292042121000001,"2":1,"1":2},"b":[1.0,{"c":1e400}],"d":"2512292042121000001"}'
  const value = parseExact(whole) as { readonly a: object; readonly b: readonly object[] }
  t.deepEqual(value, JSON.parse(whole))
  t.is(exactJson(value.a), '{"id":2512292042121000001,"2":1,"1":2}')
  t.is(exactJson({ x: value.b[1], y: value.a }), '{"x":{"c":1e400},"y":{"id":2512292042121000001,"2":1,"1":2}}')
  t.is(exactJson([value.b, undefined, { z: undefined }]), '[[1.0,{"c":1e400}],null,{}]')
})

test('a copy that was changed is written as it is', (t) => {
  const value = parseExact('{"id":1.0,"name":"secret","at":{"n":2.0}}') as Record<string, unknown>
  t.is(exactJson({ ...value, name: 'x' }), '{"id":1,"name":"x","at":{"n":2.0}}')
})

test('of a key that stands twice only the value is written that was looked at', (t) => {
  t.is(exactJson(parseExact('{"a":"bad","a":"good","n":1.0}')), '{"a":"good","n":1}')
  t.is(exactJson(parseExact('{"n":1.0,"in":{"a":1,"\\u0061":2}}')), '{"n":1,"in":{"a":2}}')
})

test('a whole body keeps nothing for numbers of its own, but for what stands in it', (t) => {
  const body = '{"temperature":1.0,"in":{"temperature":1.0}}'
  const value: unknown = JSON.parse(body)
  rememberExact(value, body)
  t.is(exactJson(value), '{"temperature":1,"in":{"temperature":1.0}}')
})

test('what is no JSON, and what is deep, long or empty', (t) => {
  t.is(exactOrUndefined('{"a":1.0'), undefined)
  t.throws(() => parseExact('{'), { instanceOf: SyntaxError })
  for (const one of ['{}', '[]', '{"":{}}', '"1.0"', 'null', '[[],{"1":[]}]']) t.is(exactJson(parseExact(one)), one)
  t.is(exactJson(parseExact('1.0')), '1')
  const deep = `${'['.repeat(2000)}1.0${']'.repeat(2000)}`
  t.is(exactJson(parseExact(deep)), deep)
})

/** Returns the time that the reading and writing of a text takes. */
function timeOf(one: string): number {
  const begun = process.cpuUsage()
  for (let round = 0; round < 3; round += 1) exactJson(parseExact(one))
  const { user } = process.cpuUsage(begun)
  return user
}

const shapes: Readonly<Record<string, (size: number) => string>> = {
  'one long number': (size) => `[${'1'.repeat(size)}]`,
  'many numbers': (size) => `[${'1.0,'.repeat(size / 4)}1.0]`,
  'a string of quotes': (size) => `{"1":"${String.raw`\"`.repeat(size / 2)}"}`,
  'a string of backslashes': (size) => `{"1":"${'\\\\'.repeat(size / 2)}"}`,
  'many keys': (size) => `{${Array.from({ length: size / 12 }, (_, at) => `"k${1_000_000 + at}":1.0`).join(',')}}`,
  'white space': (size) => `[1.0${' '.repeat(size)}]`,
  'digits that end in no exponent': (size) => `[1.0, ${'1'.repeat(15)}${'.1'.slice(0, 2)}${'0'.repeat(size)}1]`,
}
for (const [name, shape] of Object.entries(shapes))
  test.serial(`reading and writing takes a time that grows with the text and not faster: ${name}`, (t) => {
    const sizes = [60_000, 240_000].map((size) => shape(size))
    for (const one of sizes) timeOf(one)
    const [small = 0, large = 0] = sizes.map((one) => Math.min(...Array.from({ length: 5 }, () => timeOf(one))))
    t.true(large < Math.max(small, 3000) * 9, `${small} to ${large} microseconds`)
  })

const lossy = (count: number, piece: (at: number) => string): string => Array.from({ length: count }, (_, at) => piece(at)).join(',')

test('a text with very many such numbers is written as it was read, too', (t) => {
  for (const one of [
    `{"a":[${lossy(20_000, () => '[1.0]')}],"b":{"c":2.0}}`,
    `[${lossy(20_000, (at) => `{"n":${at}.0}`)}]`,
    `{"turns":[${lossy(20_000, (at) => `{"role":"assistant","input":{"id":9007199254740993,"at":[${at}.0]}}`)}],"end":[1.0]}`,
    `{"a":{"b":[[[${lossy(9000, () => '[1.0]')}]]]},"z":{"y":[1.50]}}`,
  ]) {
    t.true(exactJson(parseExact(one)) === one)
    const within = JSON.parse(`{"all":${one}}`) as object
    rememberExact(within, `{"all":${one}}`)
    t.true(exactJson(within) === `{"all":${one}}`)
  }
})

test('no copy of a value remembers its text, and no reader of a value sees it', (t) => {
  const value = parseExact('{"a":1.0,"b":[2.0]}') as Readonly<Record<string, unknown>>
  t.is(exactJson({ ...value }), '{"a":1,"b":[2.0]}')
  t.is(exactJson(structuredClone(value)), '{"a":1,"b":[2]}')
  t.is(exactJson(Object.assign({}, value, { a: 3 })), '{"a":3,"b":[2.0]}')
  t.deepEqual(value, { a: 1, b: [2] })
  t.deepEqual(Object.keys(value), ['a', 'b'])
  t.is(JSON.stringify(value), '{"a":1,"b":[2]}')
})
