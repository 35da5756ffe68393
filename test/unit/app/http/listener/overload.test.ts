import test from 'ava'
import { judge, type Pressure } from '../../../../../src/app/http/listener/overload.ts'

interface Case {
  readonly late?: readonly number[]
  readonly memory?: number
  readonly before?: Pressure
}

const judged = test.macro({
  exec(t, { late = [], memory = 0, before }: Case, expected: Pressure | null) {
    t.is(judge(late, memory, before ?? null), expected)
  },
  title: (_, given, expected) => `${JSON.stringify(given)}: ${JSON.stringify(expected)}`,
})

test(judged, {}, null)
test(judged, { late: [1000] }, null)
test(judged, { late: [0, 5000, 0, 0] }, null)
test(judged, { late: [600, 600, 0, 0] }, null)
test(judged, { late: [600, 0, 600, 600] }, 'event_loop')
test(judged, { late: [499, 499, 499, 499], before: 'event_loop' }, null)
test(judged, { memory: 0.94 }, null)
test(judged, { memory: 0.96 }, 'memory')
test(judged, { memory: 0.92, before: 'memory' }, 'memory')
test(judged, { memory: 0.89, before: 'memory' }, null)
test(judged, { memory: 0.96, late: [600, 600, 600, 600] }, 'memory')
