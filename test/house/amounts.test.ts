import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'

const root = path.resolve(import.meta.dirname, '../..')
const folders = ['src/gateway/prices', 'src/gateway/metering', 'src/app/prices']
/** These reckon with times alone. */
const ofTimes = /\/(?:layer|model-catalogue)\.ts$/

const files = folders
  .flatMap((folder) =>
    readdirSync(path.join(root, folder)).map((name) => ({
      name: `${folder}/${name}`,
      code: codeOf(readFileSync(path.join(root, folder, name), 'utf8')),
    })),
  )
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

test('only whole numbers are divided, and with rounding half to even', (t) => {
  const dividing = files.filter(({ code }) => / \/ /.test(code)).map(({ name }) => name)
  t.deepEqual(dividing, ['src/gateway/prices/whole.ts'])
})
