import test from 'ava'
import type { Limit } from '../../../../src/gateway/limits/limit.ts'
import { refusalOf } from '../../../../src/gateway/limits/refusal.ts'

const windows = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }
const limitOf = (windowMs: number): Limit => ({
  id: 'l',
  organisationId: 'o',
  name: 'requests',
  kind: 'rate',
  counts: 'requests',
  value: 5,
  window: { slotMs: windowMs / 6, slots: 6 },
  rate: { policy: '"l"', value: '5', before: '"l";r=', after: '', reset: '1m0s', windowMs },
})

for (const [name, windowMs] of Object.entries(windows))
  test(`a refusal of a ${name} names no wait beyond it, and any shorter one as it is`, (t) => {
    const waitOf = (opensMs: number) =>
      refusalOf(
        { refusals: [{ limit: limitOf(windowMs), slot: '0', needed: 1, used: 5, reserved: 0, opensMs }], passing: [] },
        { dialect: 'openai-chat', prefix: 'x-service-' },
      ).retryAfter
    t.is(waitOf(windowMs + 962), windowMs / 1000)
    t.is(waitOf(windowMs), windowMs / 1000)
    t.is(waitOf(938), 0.938)
  })
