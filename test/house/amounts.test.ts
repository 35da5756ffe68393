import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'

const root = path.resolve(import.meta.dirname, '../..')
const folders = ['src/gateway/prices', 'src/gateway/metering', 'src/gateway/batches', 'src/app/prices', 'src/features/costs']
/** Files of other folders through which amounts pass. */
const others = [
  'src/gateway/dialects/served-facts.ts',
  'src/gateway/ending/cost.ts',
  'src/gateway/limits/lease-ledger.ts',
  'src/gateway/limits/spent.ts',
  'src/app/database/amount.ts',
]
/** These reckon with times alone. */
const ofTimes = /\/(?:layer|model-catalogue)\.ts$/

const fileOf = (name: string) => ({ name, code: codeOf(readFileSync(path.join(root, name), 'utf8')) })
const files = [...folders.flatMap((folder) => readdirSync(path.join(root, folder)).map((name) => `${folder}/${name}`)), ...others]
  .map(fileOf)
  .filter(({ name }) => !ofTimes.test(name))

/** Returns the code without comments, texts and regular expressions, in which a fraction does no harm. */
function codeOf(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '')
    .replace(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g, "''")
    .replace(/(^|[=(,:?&|!\s])\/(?![/*\s])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/gm, '$1RE')
}

/** Ways in which a fraction comes into a program. */
const fractions: Readonly<Record<string, RegExp>> = {
  'a number with a fraction': /\b\d+\.\d+\b/,
  'parseFloat or toFixed': /parseFloat|toFixed|toPrecision/,
  'Math, whose results may be fractions': /\bMath\.(?!max\b|min\b)/,
  'a number of PostgreSQL with a fraction': /float[48]/,
  'an amount as a number': /\bfromPico\b|\btoPico\b/,
}

for (const [what, pattern] of Object.entries(fractions))
  test(`between a provider's counts and the log's amounts there is no ${what}`, (t) => {
    t.true(files.length > 10)
    t.deepEqual(
      files.filter(({ code }) => pattern.test(code)).map(({ name }) => name),
      [],
    )
  })

/** They divide whole numbers alone, and round the rest as their comments describe. */
const dividing = ['src/gateway/prices/whole.ts', 'src/gateway/dialects/served-facts.ts', 'src/gateway/limits/lease-ledger.ts']

test('only whole numbers are divided, and with rounding half to even', (t) => {
  t.deepEqual(
    files.filter(({ code }) => / \/ /.test(code)).map(({ name }) => name),
    dividing,
  )
})

/** The edges at which an amount becomes a number, or a number of a caller an amount. */
const edges = [
  'src/app/audit/changes.ts',
  'src/cli/budgets/recount.ts',
  'src/features/analytics/measures.ts',
  'src/features/limits/limit.ts',
  'src/features/limits/standing.ts',
  'src/features/logs/log-fields.ts',
  'src/features/model-configs/present-model.ts',
  'src/features/policies/policies.ts',
  'src/features/policies/preview.ts',
  'src/gateway/limits/refusal.ts',
  'src/gateway/limits/written-limits.ts',
  'src/lib/pico.ts',
]

test('amounts become numbers at the edges of the product alone', (t) => {
  const converting = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((name) => `src/${name.replaceAll(path.sep, '/')}`)
    .filter((name) => name.endsWith('.ts'))
    .map(fileOf)
    .filter(({ code }) => /\bfromPico\b|\btoPico\b/.test(code))
  t.deepEqual(converting.map(({ name }) => name).toSorted(), edges)
})
