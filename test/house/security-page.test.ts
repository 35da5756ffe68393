import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'

const root = path.resolve(import.meta.dirname, '../..')
const page = readFileSync(path.join(root, 'docs/operations/security.md'), 'utf8')
const promises = page.split('\n').flatMap((line) => {
  const [, id, , proof] = /^\| (P\d+) +\| (.+?) +\| (.+?) +\|$/.exec(line) ?? []
  return id === undefined || proof === undefined ? [] : [{ id, proof }]
})

test('every promise has a proof, or says why it is none yet', (t) => {
  t.deepEqual(
    promises.map(({ id }) => id),
    Array.from({ length: 16 }, (_, i) => `P${i + 1}`),
  )
  for (const { id, proof } of promises) t.regex(proof, /`test\/[^`]+`: "[^"]+"|^Not promised yet, because /, id)
})

/** The feature that each promise without a proof waits for: a promise may be left out only while `src/features` lacks it. */
const awaited: Readonly<Record<string, string>> = {}

test('a promise is left out only while its feature is missing', (t) => {
  const waiting = promises.filter(({ proof }) => proof.startsWith('Not promised yet')).map(({ id }) => id)
  t.deepEqual(waiting, Object.keys(awaited))
  for (const [id, feature] of Object.entries(awaited)) t.false(existsSync(path.join(root, 'src/features', feature)), `${id}: promise it`)
  t.false(/not promised yet|there are no \w+ yet/i.test(page.replaceAll(/\| Not promised yet, .*/g, '')), 'a promise hides what it lacks')
})

for (const { id, proof } of promises)
  for (const [, file = '', title = ''] of proof.matchAll(/`(test\/[^`]+)`: "([^"]+)"/g))
    test(`${id}: ${file} has the test ${JSON.stringify(title)}`, (t) => {
      t.true(existsSync(path.join(root, file)), file)
      t.true(readFileSync(path.join(root, file), 'utf8').includes(title), title)
    })
