import { readFileSync } from 'node:fs'
import test from 'ava'

/** The obligations of the ledger of limits, by letter, and the tests that prove them. */
const owed: Readonly<Record<string, readonly [what: string, ...proofs: (readonly [file: string, ...titles: string[]])[]]>> = {
  A: [
    'Safety: at the end of every transaction what was spent and what is leased is within the limit, but for what answers used beyond their reservations.',
    ['integration/limits/obligations.test.ts', 'A: spent and leased together never pass the limit'],
    [
      'integration/limits/exhaustive.test.ts',
      'every order of events keeps ',
      'a budget, and at the end',
      'a rate limit, and what the dead held',
    ],
    ['unit/gateway/limits/counters.test.ts', 'random interleavings: ', 'every order of five events of two processes'],
    ['e2e/faults/budgets.test.ts', 'A, C, F and H: ', 'watch.faults()'],
    ['e2e/faults/budget-points.test.ts', 'none ever granted too much'],
  ],
  B: [
    'Exactly once: the settlements of a budget are what it spent less its adjustments, and the same settlements again change nothing.',
    ['integration/limits/obligations.test.ts', 'B: each settlement counts once'],
    ['integration/features/budget-journal.test.ts', 'budgets of keys and policies, in money, tokens and requests, are what the logs say'],
    ['integration/features/budget-life.test.ts', 'the same settlements again change nothing'],
    ['e2e/faults/budget-points.test.ts', 'before it hears that its settlements are committed'],
  ],
  C: [
    'No leak: when all is quiet, and the leases of the dead have ended, nothing is leased.',
    ['integration/limits/obligations.test.ts', 'C: when all is quiet nothing is leased'],
    ['integration/limits/kills.test.ts', 'nothing stays leased'],
    ['e2e/faults/budgets.test.ts', 'nothing of the budget to be leased'],
  ],
  D: [
    'Liveness: what fits is let in within a second though other processes hold leases, and a changed limit holds within a second in every process.',
    ['integration/limits/obligations.test.ts', 'D: what fits into the rest of a limit is let in within a second'],
    ['e2e/faults/revocation.test.ts', 'D: limits that are raised, lowered, reset and archived'],
  ],
  E: [
    'Crash: a kill at any point of a request keeps A, B and C.',
    [
      'e2e/faults/budget-points.test.ts',
      'after its lease was taken',
      'after the request was sent',
      'in the middle of a stream',
      'after the last byte',
      'before its settlements are committed',
      'after its settlements are committed',
    ],
    ['integration/limits/kills.test.ts', 'E, F and H: 500 clients in 4 processes with wrong clocks', 'a rate limit holds in the same way'],
  ],
  F: [
    'Clock: five minutes more or less on the clock of a process change nothing.',
    ['integration/limits/kills.test.ts', 'const skews = [0, 300_000, -300_000, 1000]'],
    ['e2e/faults/budgets.test.ts', 'const skewsMs = [0, 300_000, -300_000, 1000]'],
  ],
  G: [
    'Reset and raise in flight: a request settles into the period and the budget that it was reserved from.',
    ['integration/limits/obligations.test.ts', 'G: a request that was reserved before a reset or a raise'],
    ['e2e/faults/budget-points.test.ts', 'G: what is on its way while its budget is reset'],
  ],
  H: [
    '500 clients, several processes, a dollar: providers are paid no more than the dollar, and the logs say what the budget counted.',
    ['e2e/faults/budgets.test.ts', 'const clients = 500', 'the budget to be what the logs say'],
  ],
}

for (const [letter, [what, ...proofs]] of Object.entries(owed))
  test(`${letter}: ${what}`, (t) => {
    for (const [file, ...titles] of proofs) {
      const code = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
      for (const title of titles) t.true(code.includes(title), `${title} is not in ${file}`)
    }
  })
