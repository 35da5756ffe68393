import test from 'ava'
import { faultOf } from '../../support/doors/door.ts'
import { jsonDoors } from '../../support/doors/json-doors.ts'

for (const { name, shapes, ...bounds } of jsonDoors)
  for (const [shape, make] of Object.entries(shapes))
    test.serial(`${name}, ${shape}: time and memory grow with the bytes`, async (t) => {
      t.is(await faultOf(make, bounds), null)
    })
