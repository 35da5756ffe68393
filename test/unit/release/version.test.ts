import test from 'ava'
import fc from 'fast-check'
import { compareFloors, satisfies } from '../../../src/release/floor.ts'
import { compareVersions, isVersion } from '../../../src/release/version.ts'

const order = test.macro({
  exec: (t, one: string, other: string, expected: number) => {
    t.is(compareVersions(one, other), expected)
    t.is(compareVersions(other, one), 0 - expected)
  },
  title: (_, one: string, other: string) => `${one} against ${other}`,
})
test(order, '1.3.0', '1.3.0', 0)
test(order, '1.9.0', '1.10.0', -1)
test(order, '1.11.2', '1.11.10', -1)
test(order, '2.0.0', '1.99.99', 1)
test(order, '1.0.9007199254740993', '1.0.9007199254740992', 1)

test('sorting versions is sorting their parts', (t) => {
  const version = fc.tuple(fc.nat(30), fc.nat(30), fc.nat(30))
  fc.assert(
    fc.property(version, version, (one, other) => {
      const [a, b] = [one, other].map(([major, minor, patch]) => major * 10_000 + minor * 100 + patch)
      t.is(compareVersions(one.join('.'), other.join('.')), Math.sign((a ?? 0) - (b ?? 0)))
    }),
  )
})

for (const text of ['', '1', '1.2', '1.2.3.4', 'v1.2.3', '01.2.3', '1.2.3-rc.1', '1.2.3+5', ' 1.2.3', '1.2.3\n', '1.-2.3'])
  test(`${JSON.stringify(text)} is no version`, (t) => {
    t.false(isVersion(text))
    t.throws(() => compareVersions(text, '1.0.0'), { instanceOf: RangeError, message: /is no version/ })
  })

const floor = test.macro({
  exec: (t, chart: string, range: string | null, expected: boolean) => {
    t.is(satisfies(chart, range), expected)
  },
  title: (_, chart: string, range: string | null, expected: boolean) => `chart ${chart} is ${expected ? '' : 'not '}enough for ${range}`,
})
test(floor, '1.4.0', '>1.4.0', false)
test(floor, '1.4.1', '>1.4.0', true)
test(floor, '1.10.0', '>1.4.0', true)
test(floor, '1.5.1', '>=1.6.0', false)
test(floor, '1.6.0', '>=1.6.0', true)
test(floor, '0.0.1', null, true)

test('floors have an order', (t) => {
  const ascending = [null, '>=1.4.0', '>1.4.0', '>=1.4.1', '>=1.10.0']
  t.deepEqual(ascending.toReversed().toSorted(compareFloors), ascending)
  t.is(compareFloors('>1.4.0', '>1.4.0'), 0)
  t.is(compareFloors(null, null), 0)
  t.throws(() => satisfies('1.0.0', '<2.0.0'), { message: /is no floor/ })
})
