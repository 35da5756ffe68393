import test from 'ava'
import { createRetryBudgets } from '../../../../src/gateway/routing/retry-budget.ts'
import { backOffMs, readRetryAfter, waitBeforeRetry } from '../../../../src/gateway/routing/retry-timing.ts'

const today = Date.UTC(2026, 0, 1)
const asked: readonly (readonly [title: string, headers: Readonly<Record<string, string>>, ms: number | null])[] = [
  ['seconds', { 'retry-after': '2' }, 2000],
  ['seconds with a fraction', { 'retry-after': '0.25' }, 250],
  ['a date', { 'retry-after': new Date(today + 3000).toUTCString() }, 3000],
  ['a date that is over', { 'retry-after': new Date(today - 3000).toUTCString() }, 0],
  ['milliseconds before seconds', { 'retry-after-ms': '40', 'retry-after': '2' }, 40],
  ["Azure's milliseconds", { 'x-ms-retry-after-ms': '70' }, 70],
  ['nothing', {}, null],
  ['a word', { 'retry-after': 'soon' }, null],
  ['a negative number', { 'retry-after': '-1e9999' }, null],
]

for (const [title, headers, ms] of asked)
  test(`retry-after: ${title}`, (t) => {
    t.is(
      readRetryAfter((name) => headers[name], today),
      ms,
    )
  })

test('back-off doubles, is spread over its whole range, and has an end', (t) => {
  t.deepEqual(
    [1, 2, 3, 4, 5, 6].map((repetition) => backOffMs(repetition, 0.999_999)),
    [999, 1999, 3999, 7999, 15_999, 15_999],
  )
  t.is(backOffMs(5, 0), 0)
})

const half = { repetition: 1, random: 0.5, leftMs: 10_000 } as const
const waits = [
  ['exact waits as long as asked', { ...half, rule: 'exact', retryAfterMs: 7000 }, 7000],
  ['exact gives up when there is no time', { ...half, rule: 'exact', retryAfterMs: 10_001 }, null],
  ['atLeast waits as long as asked', { ...half, rule: 'atLeast', retryAfterMs: 7000 }, 7000],
  ['atLeast backs off when there is no time', { ...half, rule: 'atLeast', retryAfterMs: 10_001 }, 500],
  ['ignored backs off', { ...half, rule: 'ignored', retryAfterMs: 7000 }, 500],
  ['no back-off beyond the time left', { ...half, rule: 'ignored', retryAfterMs: null, leftMs: 400 }, null],
] as const

for (const [title, wait, ms] of waits)
  test(`waits: ${title}`, (t) => {
    t.is(waitBeforeRetry(wait), ms)
  })

test('a quiet target is repeated at once; a busy one that fails gets 20 % more requests, not six times as many', (t) => {
  const budgets = createRetryBudgets(10)
  const retriesOf = (tries: number) => {
    let retries = 0
    for (let at = 0; at < tries; at += 1) {
      budgets.noteTry('busy', at)
      for (let again = 0; again < 5 && budgets.takeRetry('busy', at); again += 1) retries += 1
    }
    return retries
  }
  budgets.noteTry('quiet', 0)
  t.deepEqual(
    Array.from({ length: 5 }, () => budgets.takeRetry('quiet', 0)),
    [true, true, true, true, true],
  )
  t.is(retriesOf(1000), 200)
})

test('a budget comes back with time, and not all at once', (t) => {
  const budgets = createRetryBudgets(10)
  const taken = (now: number) => Array.from({ length: 20 }, () => budgets.takeRetry('a', now)).filter(Boolean).length
  t.deepEqual([taken(0), taken(9999), taken(15_000), taken(30_000)], [10, 0, 5, 10])
})
