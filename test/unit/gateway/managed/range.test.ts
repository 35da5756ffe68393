import test from 'ava'
import { rangeOf } from '../../../../src/gateway/managed/range.ts'
import { ApiError } from '../../../../src/lib/errors.ts'

const size = 100

for (const [header, wanted] of [
  [undefined, null],
  ['bytes=0-0', { start: 0, end: 1 }],
  ['bytes=10-19', { start: 10, end: 20 }],
  ['bytes=90-', { start: 90, end: 100 }],
  ['bytes=90-500', { start: 90, end: 100 }],
  ['bytes=-10', { start: 90, end: 100 }],
  ['bytes=-500', { start: 0, end: 100 }],
  ['bytes=-', null],
  ['bytes=20-10', null],
  ['bytes=0-1,5-6', null],
  ['lines=0-1', null],
  ['bytes=0x1-2', null],
] as const)
  test(`the part that ${header} asks for`, (t) => {
    t.deepEqual(rangeOf(header, size), wanted)
  })

for (const header of ['bytes=100-', 'bytes=100-200', 'bytes=-0'])
  test(`there is no part ${header}`, (t) => {
    const error = t.throws(() => rangeOf(header, size), { instanceOf: ApiError })
    t.is(error?.status, 416)
    t.deepEqual(error?.headers, ['content-range', 'bytes */100'])
  })
