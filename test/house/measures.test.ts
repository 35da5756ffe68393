import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'

const gateway = path.resolve(import.meta.dirname, '../../src/gateway')
const files = readdirSync(gateway, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, text: readFileSync(path.join(gateway, name), 'utf8') }))

const naming = (pattern: RegExp, but: RegExp): readonly string[] =>
  files.filter(({ name, text }) => pattern.test(text) && !but.test(name)).map(({ name }) => name)

test('of twenty files of the data plane nineteen have at most 200 lines', (t) => {
  const lengths = files.map(({ text }) => text.split('\n').length - 1).toSorted((one, other) => one - other)
  t.true((lengths[Math.floor(lengths.length * 0.95)] ?? 0) <= 200)
})

test("only exchanges over HTTP, and WebSockets, know Node's request and response, so that a call can also be made within the process", (t) => {
  t.deepEqual(
    naming(/\b(?:IncomingMessage|ServerResponse)\b/, /^(?:exchange\/(?:node|upgrade)-exchange|egress\/(?:web|ask-for)-socket)\.ts$/),
    [],
  )
})

test('flat header lists are walked in wire/, and where the headers of every request are read for keys', (t) => {
  t.deepEqual(naming(/\b(?:i|at) \+= 2\b/, /^wire\/header|^callers\/own-keys\.ts$/), [])
})
