// Test files run longest first: a long one that begins last would keep one core alone. `npm test -- --record` writes their costs.
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(fileURLToPath(import.meta.url))
/** A whole run has a plan of suites: `scripts/test.ts`. */
const plan = process.env['GATEHOUSE_TEST_PLAN']
const { files, costs } =
  plan === undefined
    ? {
        files: ['unit', 'conformance', 'house', 'integration', 'e2e'].map((folder) => `test/${folder}/**/*.test.ts`),
        costs: JSON.parse(readFileSync(path.join(root, 'test/costs.json'), 'utf8')),
      }
    : JSON.parse(readFileSync(plan, 'utf8'))

/** Seconds of wall time; a file without a record counts as a long one. */
const costOf = (file) => costs[path.relative(root, file)] ?? 60

export default {
  extensions: ['ts'],
  files,
  nodeArguments: [
    '--disable-warning=ExperimentalWarning',
    '--import=./test/support/quick-start.mjs',
    '--min-semi-space-size=16',
    '--preserve-symlinks',
  ],
  sortTestFiles: (a, b) => costOf(b) - costOf(a),
  // Many files wait for processes, locks and events, so that two more than there are cores keep the cores at work.
  concurrency: availableParallelism() + 2,
  timeout: '3m',
  workerThreads: false,
}
