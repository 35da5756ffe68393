import test from 'ava'
import {
  eachHeader,
  headerRecord,
  headersReplaced,
  headersWithout,
  headerValue,
  headerValues,
  removeHeader,
} from '../../../../src/gateway/wire/header-list.ts'

const list = ['Accept', 'a', 'X-One', '1', 'accept', 'b', 'Trailer', 't'] as const

test('a header is found in whatever case it came', (t) => {
  t.is(headerValue(list, 'accept'), 'a')
  t.is(headerValue(list, 'absent'), undefined)
  t.deepEqual(headerValues(list, 'accept'), ['a', 'b'])
  t.deepEqual(headerValues(list, 'absent'), [])
})

test('what is left keeps its spelling and its order', (t) => {
  t.deepEqual(
    headersWithout(list, (name) => name === 'accept'),
    ['X-One', '1', 'Trailer', 't'],
  )
  const own = [...list]
  removeHeader(own, 'trailer')
  t.deepEqual(own, ['Accept', 'a', 'X-One', '1', 'accept', 'b'])
})

test('newer headers stand in place of all of their name, and come last', (t) => {
  t.deepEqual(headersReplaced(list, ['ACCEPT', 'c']), ['X-One', '1', 'Trailer', 't', 'ACCEPT', 'c'])
  t.is(headersReplaced(list, []), list)
})

test('a record joins what came more than once, names of prototypes too', (t) => {
  t.deepEqual(
    headerRecord([...list, '__proto__', 'p']),
    Object.fromEntries([
      ['accept', 'a, b'],
      ['x-one', '1'],
      ['trailer', 't'],
      ['__proto__', 'p'],
    ]),
  )
  const seen: string[] = []
  eachHeader(list, (name, value) => seen.push(`${name}=${value}`))
  t.deepEqual(seen, ['Accept=a', 'X-One=1', 'accept=b', 'Trailer=t'])
})
