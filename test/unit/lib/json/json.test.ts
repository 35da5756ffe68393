import test from 'ava'
import fc from 'fast-check'
import { ApiError } from '../../../../src/lib/errors.ts'
import { parseJson, refuseKeys } from '../../../../src/lib/json/json.ts'

const bytes = (text: string) => Buffer.from(text)

const refuses = test.macro<[string | Uint8Array, RegExp]>({
  exec(t, body, message) {
    const error = t.throws(() => parseJson(typeof body === 'string' ? bytes(body) : body), { instanceOf: ApiError })
    t.is(error?.code, 'invalid_request')
    t.regex(error?.message ?? '', message)
  },
  title: (_, body, message) => `refuses ${String(body).slice(0, 30)} (${String(body).length}): ${message.source}`,
})

test(refuses, '', /unexpected end at position 0 \(line 1, column 1\)/)
test(refuses, '   ', /unexpected end at position 3/)
test(refuses, '{', /unexpected end at position 1/)
test(refuses, '{"a":1,}', /unexpected character at position 7/)
test(refuses, '[1,]', /unexpected character at position 3/)
test(refuses, '{"a" 1}', /unexpected character at position 5/)
test(refuses, '{a:1}', /unexpected character at position 1/)
test(refuses, '{1:1}', /unexpected character at position 1/)
test(refuses, '{"a":1\n"b":2}', /position 7 \(line 2, column 1\)/)
test(refuses, '[1}', /unexpected character at position 2/)
test(refuses, '[]]', /unexpected character at position 2/)
test(refuses, '1 2', /unexpected character at position 2/)
test(refuses, ',', /unexpected character at position 0/)
test(refuses, '[01]', /unexpected character at position 2/)
test(refuses, '["a\nb"]', /unexpected character at position 3/)
test(refuses, '["\\x"]', /unexpected character at position 2/)
test(refuses, '["abc', /unexpected end at position 5/)
test(refuses, `["${'x'.repeat(25_000)}`, /unexpected end at position 25002/)
test(refuses, 'NaN', /unexpected character at position 0/)
test(refuses, 'nul', /unexpected character at position 0/)
test(refuses, "{'a':1}", /unexpected character at position 1/)
test(refuses, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), /not valid UTF-8/)
test(refuses, Buffer.from('"é"', 'latin1'), /not valid UTF-8/)
test(refuses, '['.repeat(129), /deeper than 128 levels \(byte 128\)/)
test(refuses, '{"a":'.repeat(129), /deeper than 128 levels/)
test(refuses, '[{"a":'.repeat(100), /deeper than 128 levels/)
test(refuses, '['.repeat(4_000_000), /deeper than 128 levels/)
test(refuses, '{"__proto__":{"admin":true}}', /`__proto__`/)
test(refuses, '{"a":[{"b":{"__proto__":1}}]}', /`__proto__`/)
test(refuses, String.raw`{"\u005f_proto__":1}`, /`__proto__`/)
test(refuses, String.raw`{"__pr\u006Fto__":1}`, /`__proto__`/)

const reads = test.macro<[string]>({
  exec(t, text) {
    t.deepEqual(parseJson(bytes(text)), JSON.parse(text))
  },
  title: (_, text) => `reads ${text.slice(0, 40)}`,
})

test(reads, '{}')
test(reads, '  [1, "two", null, true, {"é": "日本"}] \n')
test(reads, `${'['.repeat(128)}${']'.repeat(128)}`)
test(reads, JSON.stringify({ text: '['.repeat(1000) }))
test(reads, JSON.stringify({ [`${'\\'.repeat(101)}"${'['.repeat(500)}`]: `"[{${'\\"['.repeat(300)}` }))
test(reads, JSON.stringify({ text: 'the key __proto__ is only named here', escaped: '\u0060' }))
test(reads, '{"constructor":{"type":"object"}}')

test('the message never quotes the body', (t) => {
  const error = t.throws(() => parseJson(bytes('{"password": hunter2}')))
  t.notRegex(error?.message ?? '', /hunter2|password/)
})

test('takes a view into a larger buffer', (t) => {
  t.deepEqual(parseJson(bytes('xx{"a":1}yy').subarray(2, 9)), { a: 1 })
})

test('accepts exactly what JSON.parse accepts', (t) => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), fc.nat(), fc.string({ maxLength: 2 }), (json, where, insert) => {
      const at = where % (json.length + 1)
      for (const text of [json, json.slice(0, at) + insert + json.slice(at), json.slice(0, at)]) {
        const expected = outcome(() => JSON.parse(text))
        if (text.includes('__proto__')) continue
        t.deepEqual(
          outcome(() => parseJson(bytes(text))),
          text.isWellFormed() ? expected : outcome(() => JSON.parse(text.toWellFormed())),
        )
      }
    }),
  )
})

test('the position of a fault is the longest prefix that could still become JSON', (t) => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 3 }), fc.nat(), (json, where) => {
      const at = where % json.length
      const error = t.throws(() => parseJson(bytes(`${json.slice(0, at)}\u0001`)))
      t.regex(error?.message ?? '', new RegExp(`at position (${[at, ...numberStarts(json, at)].join('|')}) `))
    }),
  )
})

test('refuseKeys names the key that it met', (t) => {
  const error = t.throws(() => refuseKeys({ a: [{ constructor: 1 }] }, new Set(['constructor'])), { instanceOf: ApiError })
  t.is(error?.param, 'constructor')
  t.notThrows(() => refuseKeys({ a: ['constructor', null, { b: 0 }] }, new Set(['constructor'])))
})

/** A cut-off word or number is reported where it begins or where it stops making sense: any place inside the run is right. */
const numberStarts = (json: string, at: number) => {
  const starts: number[] = []
  for (let back = at; back >= 0 && at - back < 30; back--) starts.push(back)
  return starts
}

function outcome(read: () => unknown): unknown {
  try {
    return { value: read() }
  } catch {
    return 'refused'
  }
}

test('a key is refused however it is spelled, and a text that looks like one is none', (t) => {
  for (const text of ['{"__proto__":1}', '[{"a":1, "\\u005f_p\\u0072ot\\u006F_\\u005F" : 1}]', '{"a":{"b":[{\n"__proto__"\n:{}}]}}'])
    t.throws(() => parseJson(bytes(text)), { instanceOf: ApiError, message: /__proto__/ }, text)
  for (const text of [
    '{"a":"\\"__proto__\\":1"}',
    '{"x\\"__proto__":1}',
    '["{,","__proto__",":"]',
    '{"a":" \\"__proto__\\" :"}',
    '{"__proto__x":1}',
  ])
    t.notThrows(() => parseJson(bytes(text)), text)
})

test('a body of a million objects is not walked because of one word', (t) => {
  const many = ',{}'.repeat(1_500_000)
  const spent = (word: string): number => {
    const from = process.cpuUsage()
    parseJson(bytes(`["${word}"${many}]`))
    const { user, system } = process.cpuUsage(from)
    return user + system
  }
  const least = (word: string): number => Math.min(spent(word), spent(word))
  const [plain, worded] = [least('word'), least('__proto__')]
  t.true(worded < plain * 1.7 + 100_000, `${worded / 1000} ms, and ${plain / 1000} ms without`)
})

test('of a long text nobody is told where it is wrong', (t) => {
  t.throws(() => parseJson(bytes(`[1${',1'.repeat(600_000)},]`)), { instanceOf: ApiError, message: /is not valid JSON\.$/ })
})
