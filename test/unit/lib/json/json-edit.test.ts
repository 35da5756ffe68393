import test from 'ava'
import fc from 'fast-check'
import { editJson, type JsonEdit } from '../../../../src/lib/json/json-edit.ts'
import { everyItem, existingPaths, parseJsonPath, valueAt } from '../../../../src/lib/json/json-path.ts'

const edited = test.macro((t, text: string, edits: readonly JsonEdit[], expected: string) => {
  t.is(editJson(text, edits), expected)
})

test('nothing to change', edited, ' {"a" : 1e2 } ', [], ' {"a" : 1e2 } ')
test('a value', edited, '{"a" : 1, "b":2}', [{ path: ['a'], value: 'x' }], '{"a" : "x", "b":2}')
test(
  'big numbers and spaces elsewhere stay',
  edited,
  '{ "n": 12345678901234567890.10, "a":[ 1 ] }\n',
  [{ path: ['a', 0], value: 2 }],
  '{ "n": 12345678901234567890.10, "a":[ 2 ] }\n',
)
test('a missing member is added', edited, '{"a":1}', [{ path: ['b'], value: null }], '{"a":1,"b":null}')
test('into an empty object', edited, '{ }', [{ path: ['b'], value: 1 }], '{"b":1}')
test('the first goes', edited, '{"a":1, "b":2}', [{ path: ['a'], value: undefined }], '{ "b":2}')
test('the last goes', edited, '{"a":1, "b":{"c":"}"}}', [{ path: ['b'], value: undefined }], '{"a":1}')
test(
  'all go',
  edited,
  '{"a":1,"b":2}',
  ['a', 'b'].map((name) => ({ path: [name], value: undefined })),
  '{}',
)
test('both of a key that comes twice', edited, '{"a":1,"a":2}', [{ path: ['a'], value: 3 }], '{"a":3,"a":3}')
test('an escaped key', edited, '{"\\u0061":1}', [{ path: ['a'], value: 3 }], '{"\\u0061":3}')
test(
  'deep in arrays',
  edited,
  '{"m":[{"c":"a\\"]"},{"c":"b"}]}',
  [
    { path: ['m', 1, 'c'], value: 'x' },
    { path: ['m', 0, 'c'], value: 'y' },
  ],
  '{"m":[{"c":"y"},{"c":"x"}]}',
)
test('an item goes', edited, '[1, 2 ,3]', [{ path: [1], value: undefined }], '[1,3]')
test('what is not there stays away', edited, '{"a":{"b":1}}', [{ path: ['x', 'y'], value: 1 }], '{"a":{"b":1}}')
test('the whole', edited, ' [1] ', [{ path: [], value: {} }], ' {} ')

test('any value that is set reads back, and nothing else changes', (t) => {
  const key = fc.string({ minLength: 1 }).filter((name) => name !== '__proto__')
  const json = fc.object({ key, values: [fc.jsonValue()], maxDepth: 3 })
  fc.assert(
    fc.property(json, fc.jsonValue(), fc.nat(), fc.constantFrom(0, 2), (before, value, pick, indent) => {
      const paths = pathsOf(before)
      const path = paths[pick % paths.length] ?? []
      const wanted = structuredClone<Record<string, unknown>>(before)
      const parent = valueAt(wanted, path.slice(0, -1)) as Record<string, unknown>
      const last = path.at(-1)
      if (last !== undefined) parent[String(last)] = value
      const after: unknown = JSON.parse(editJson(JSON.stringify(before, null, indent), [{ path, value }]))
      t.deepEqual(after, JSON.parse(JSON.stringify(last === undefined ? value : wanted)))
    }),
    { numRuns: 300 },
  )
})

function pathsOf(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [path]
  const steps = Object.keys(value).map((name) => path.concat(Array.isArray(value) ? Number(name) : name))
  return [path].concat(steps.flatMap((step) => pathsOf(valueAt(value, step.slice(-1)), step)))
}

test('paths are read', (t) => {
  t.deepEqual(parseJsonPath('messages[*].name'), ['messages', everyItem, 'name'])
  t.deepEqual(parseJsonPath(`tools[0]["x.y"]['z']`), ['tools', 0, 'x.y', 'z'])
  for (const wrong of ['', '.', 'a.', 'a[', 'a[]', 'a[b]', 'a..b', 'a]']) t.is(parseJsonPath(wrong), null, wrong)
})

test('wildcards stand for what is there', (t) => {
  const value = { tools: [{ strict: true }, {}, { strict: null }], a: 1 }
  const found = (...paths: string[]) =>
    existingPaths(
      value,
      paths.map((path) => parseJsonPath(path) ?? []),
      9,
    )
  t.deepEqual(found('tools[*].strict'), [
    ['tools', 0, 'strict'],
    ['tools', 2, 'strict'],
  ])
  t.deepEqual(found('a.b'), [])
  t.deepEqual(found('constructor'), [])
  t.is(found('tools[*].strict', 'a', 'a'), null, 'ten places and more')
})
