import test from 'ava'
import {
  keyRateLimits,
  presentLimit,
  rateLimits,
  revived,
  statusAt,
  toExpiry,
  toLimit,
  usageLimits,
} from '../../../src/features/limits/index.ts'

const schemas = { usageLimits, rateLimits, keyRateLimits }

const field = test.macro({
  exec: (t, schema: keyof typeof schemas, given: unknown, valid: boolean) => t.is(schemas[schema].safeParse(given).success, valid),
  title: (_, ...given) => JSON.stringify(given),
})

test(field, 'usageLimits', {}, true)
test(field, 'usageLimits', { type: 'tokens', credit_limit: 1, alert_threshold: 1 }, true)
test(field, 'usageLimits', { credit_limit: 10, periodic_reset: 'weekly' }, true)
test(field, 'usageLimits', { periodic_reset_days: 365, next_usage_reset_at: '2030-01-01T00:00:00Z' }, true)
test(field, 'usageLimits', { type: 'money' }, false)
test(field, 'usageLimits', { credit_limit: 0 }, false)
test(field, 'usageLimits', { credit_limit: 1.5 }, true)
test(field, 'usageLimits', { credit_limit: '10' }, false)
test(field, 'usageLimits', { alert_threshold: 0 }, false)
test(field, 'usageLimits', { credit_limit: 8, alert_threshold: 8 }, true)
test(field, 'usageLimits', { credit_limit: 8, alert_threshold: 9 }, false)
test(field, 'usageLimits', { credit_limit: null, alert_threshold: 9 }, true)
test(field, 'usageLimits', { type: 'cost', on_unpriced: 'allow' }, true)
test(field, 'usageLimits', { on_unpriced: 'allow' }, true)
test(field, 'usageLimits', { type: 'tokens', on_unpriced: 'allow' }, false)
test(field, 'usageLimits', { type: 'requests', output_policy: 'strict' }, false)
test(field, 'usageLimits', { periodic_reset: 'daily' }, false)
test(field, 'usageLimits', { periodic_reset_days: 0 }, false)
test(field, 'usageLimits', { periodic_reset_days: 366 }, false)
test(field, 'usageLimits', { periodic_reset: 'weekly', periodic_reset_days: 7 }, false)
test(field, 'usageLimits', { next_usage_reset_at: '2030-01-01T00:00:00Z' }, false)
test(field, 'usageLimits', { periodic_reset: 'weekly', next_usage_reset_at: 'tomorrow' }, false)
test(field, 'usageLimits', { credit_limit: 1, extra: true }, false)
test(field, 'usageLimits', [], false)

test(field, 'rateLimits', [{ type: 'requests', unit: 'rpm', value: 0 }], true)
test(field, 'rateLimits', { type: 'tokens', unit: 'rpd', value: 5 }, true)
test(field, 'rateLimits', [], true)
test(field, 'rateLimits', [{ type: 'requests', unit: 'rps', value: 1 }], false)
test(field, 'rateLimits', [{ type: 'requests', unit: 'rpm', value: -1 }], false)
test(field, 'rateLimits', [{ type: 'requests', unit: 'rpm', value: 1.5 }], false)
test(field, 'rateLimits', [{ type: 'requests', unit: 'rpm' }], false)
test(field, 'rateLimits', [{ type: 'words', unit: 'rpm', value: 1 }], false)
test(
  field,
  'rateLimits',
  [
    { type: 'requests', unit: 'rpm', value: 1 },
    { type: 'requests', unit: 'rpm', value: 2 },
  ],
  false,
)
test(
  field,
  'rateLimits',
  [
    { type: 'requests', unit: 'rpm', value: 1 },
    { type: 'tokens', unit: 'rpm', value: 2 },
  ],
  true,
)
test(
  field,
  'keyRateLimits',
  [
    { type: 'requests', unit: 'rps', value: 1 },
    { type: 'requests', unit: 'rpw', value: 9 },
  ],
  true,
)
test(field, 'keyRateLimits', { type: 'requests', unit: 'rps', value: 1 }, false)

test('a single rate limit becomes a list', (t) => {
  t.deepEqual(rateLimits.parse({ type: 'tokens', unit: 'rpd', value: 5 }), [{ type: 'tokens', unit: 'rpd', value: 5 }])
})

test('an expiry lies in the future; undefined and null say nothing and never', (t) => {
  const nowMs = Date.parse('2030-01-01T00:00:00Z')
  t.is(toExpiry(undefined, nowMs), undefined)
  t.is(toExpiry(null, nowMs), null)
  t.deepEqual(toExpiry('2030-01-01T01:00:00+00:30', nowMs), new Date('2030-01-01T00:30:00Z'))
  t.like(
    t.throws(() => toExpiry('2030-01-01T00:00:00Z', nowMs)),
    { code: 'AB01', param: 'expires_at' },
  )
})

test('what has run out is expired before anything says so', (t) => {
  t.is(statusAt({ status: 'active', expiresAt: null }, 1000), 'active')
  t.is(statusAt({ status: 'active', expiresAt: new Date(1001) }, 1000), 'active')
  t.is(statusAt({ status: 'active', expiresAt: new Date(1000) }, 1000), 'expired')
  t.is(statusAt({ status: 'exhausted', expiresAt: new Date(1000) }, 1000), 'exhausted')
})

test('a later expiry revives what expired, a reset what was used up', (t) => {
  t.is(revived('expired', { expiresAt: null, resetUsage: undefined }), 'active')
  t.is(revived('expired', { expiresAt: undefined, resetUsage: true }), undefined)
  t.is(revived('exhausted', { expiresAt: null, resetUsage: undefined }), undefined)
  t.is(revived('exhausted', { expiresAt: undefined, resetUsage: true }), 'active')
  t.is(revived('active', { expiresAt: null, resetUsage: true }), undefined)
})

test('a limit of a key and one of a policy are the same limit', (t) => {
  const ofKey = usageLimits.parse({
    credit_limit: 12,
    alert_threshold: 3,
    periodic_reset_days: 30,
    next_usage_reset_at: '2030-01-01T02:00:00+02:00',
  })
  const limit = toLimit(ofKey)
  t.deepEqual(limit, {
    type: 'cost',
    creditLimit: 12_000_000_000_000n,
    alertThreshold: 3_000_000_000_000n,
    periodicReset: null,
    periodicResetDays: 30,
    nextUsageResetAt: new Date('2030-01-01T00:00:00Z'),
  })
  t.deepEqual(presentLimit(limit), { ...ofKey, type: 'cost', next_usage_reset_at: '2030-01-01T00:00:00.000Z' })
  t.like(toLimit({ type: 'tokens', credit_limit: 0.5 }), { type: 'tokens', creditLimit: 500_000_000_000n, alertThreshold: null })
  t.is(usageLimits.safeParse({ credit_limit: -1, periodic_reset: 'weekly', periodic_reset_days: 3 }).success, false)
})
