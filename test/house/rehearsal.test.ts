import test from 'ava'
import { makers } from '../../scripts/rehearse/makers.ts'
import { features } from '../../src/features/index.ts'

test('every feature has a maker of its data, so that upgrades of it are rehearsed', (t) => {
  t.deepEqual(Object.keys(makers).toSorted(), features.map(({ id }) => id).toSorted())
})
