import test from 'ava'
import { differences, misfits, shapeOf } from '../../../scripts/rehearse/shape.ts'

const misfit = test.macro({
  exec(t, older: readonly unknown[], newer: unknown, expected: readonly string[]) {
    t.deepEqual(misfits(shapeOf(newer), ...older.map((value) => shapeOf(value))), expected)
  },
  title: (given, older, newer) => given ?? `an old client of ${JSON.stringify(older)} reads ${JSON.stringify(newer)}`,
})

test(misfit, [{ id: 'a', count: 1 }], { id: 'b', count: 2, more: true }, [])
test(misfit, [{ id: 'a', owner: null }], { id: 'b' }, ['$.owner is gone'])
test(misfit, [{ id: 'a' }], { id: 1 }, ['$.id is number, and was string'])
test(misfit, [{ id: 'a' }], { id: null }, ['$.id is null, and was string'])
test(misfit, [{ id: 'a' }, { id: null }], { id: null }, [])
test(misfit, [{ last_used_at: 'then' }], { last_used_at: null }, [])
test(misfit, [{ last_used_at: 'then' }], { last_used_at: 7 }, ['$.last_used_at is number, and was string'])
test(misfit, [{ data: [{ id: 'a' }] }], { data: [] }, [])
test(misfit, [{ data: [] }], { data: [{ id: 'a' }] }, [])
test(misfit, [{ data: [{ id: 'a', name: 'b' }] }], { data: [{ id: 'a' }, { id: 'b' }] }, ['$.data[].name is gone'])
test(misfit, [{ owner: { id: 'a' } }], { owner: null }, ['$.owner is null, and was object'])
test(misfit, [{ data: ['a'] }], { data: 'a' }, ['$.data is string, and was array'])

const difference = test.macro({
  exec(t, before: unknown, after: unknown, expected: readonly string[]) {
    t.deepEqual(differences(before, after), expected)
  },
  title: (given, before, after) => given ?? `${JSON.stringify(before)} read again as ${JSON.stringify(after)}`,
})

test(difference, { id: 'a', list: [{ x: 1 }] }, { id: 'a', list: [{ x: 1, y: 2 }], more: 1 }, [])
test(difference, { id: 'a' }, { id: 'b' }, ['$.id was "a" and is "b"'])
test(difference, { last_used_at: 'then' }, { last_used_at: 'later' }, [])
test(difference, { last_used_at: 'then' }, {}, ['$.last_used_at is gone'])
test(difference, { id: 'a' }, {}, ['$.id is gone'])
test(difference, { list: [1, 2] }, { list: [1] }, ['$.list had 2 items and has 1'])
test(difference, { list: [1, 2] }, { list: [2, 1] }, ['$.list[0] was 1 and is 2', '$.list[1] was 2 and is 1'])
test(difference, { value: null }, { value: {} }, ['$.value was null and is {}'])
test(difference, { value: {} }, { value: null }, ['$.value was an object and is null'])
