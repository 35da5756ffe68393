import test from 'ava'
import { replaceModel } from '../../../../src/gateway/wire/body.ts'

const replaces = test.macro({
  exec(t, body: string, expected: string) {
    t.is(replaceModel(Buffer.from(body), '@a/m', 'm').toString(), expected)
  },
  title: (name = '') => `model: ${name}`,
})

test(
  'only the value changes',
  replaces,
  '{ "model" : "@a/m",\n "n": 9007199254740993, "t": 1.0 }',
  '{ "model" : "m",\n "n": 9007199254740993, "t": 1.0 }',
)
test(
  'a nested model of that name stays',
  replaces,
  '{"metadata":{"model":"@a/m"},"model":"@a/m"}',
  '{"metadata":{"model":"@a/m"},"model":"m"}',
)
test(
  'an escaped model is known',
  replaces,
  String.raw`{"x":[{"model":"@a/m"}],"model":"\u0040a/m"}`,
  '{"x":[{"model":"@a/m"}],"model":"m"}',
)
test('an escaped key is known', replaces, String.raw`{"mod\u0065l":"@a/m"}`, String.raw`{"mod\u0065l":"m"}`)
test(
  'text that looks like it stays',
  replaces,
  String.raw`{"p":"\"model\":\"@a/m\"","model":"@a/m","e":"\\"}`,
  String.raw`{"p":"\"model\":\"@a/m\"","model":"m","e":"\\"}`,
)
test('other letters than ASCII stay', replaces, '{"p":"é😀","model":"@a/m"}', '{"p":"é😀","model":"m"}')
