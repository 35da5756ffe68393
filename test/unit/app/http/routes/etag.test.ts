import test from 'ava'
import { etagOf } from '../../../../../src/app/http/routes/etag.ts'

const key = {
  name: 'crawler',
  usage_limits: { credit_limit: 5, current_usage: 1, status: 'active', last_reset_at: null, is_threshold_alerts_sent: false },
  usage: { spent: 1, reserved: 0, limit: 5, resets_at: null, state: 'ok', runs_out_at: null },
}

for (const [what, other, same] of [
  ['what a budget has counted', { ...key, usage_limits: { ...key.usage_limits, current_usage: 5, status: 'exhausted' } }, true],
  ['how its limit stands', { ...key, usage: { ...key.usage, spent: 5, state: 'exhausted', runs_out_at: '2026-01-01T00:00:00Z' } }, true],
  ['its bound', { ...key, usage_limits: { ...key.usage_limits, credit_limit: 6 } }, false],
  ['a status that somebody sets', { ...key, status: 'archived' }, false],
  ['a field of the same name in what somebody wrote', { ...key, usage: { text: 'for the crawler alone' } }, false],
] as const)
  test(`${what} ${same ? 'leaves the ETag as it is' : 'changes the ETag'}`, (t) => {
    t.is(etagOf(other) === etagOf(key), same)
  })
