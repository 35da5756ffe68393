import { readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'

const root = path.resolve(import.meta.dirname, '../..')

/** The imports of a file when it is loaded, types left out: packages by name, files by their path in the repository. */
function imports(file: string): readonly string[] {
  const text = readFileSync(path.join(root, file), 'utf8')
  const found = [...text.matchAll(/^(?:import|export) (?!type\b)(?:[^'"]*? from )?'([^']+)'/gm)]
  return found.map(([, name = '']) => (name.startsWith('.') ? path.posix.join(path.posix.dirname(file), name) : name))
}

/** Everything that is loaded with a file, with its importer. */
function loadedWith(start: string): ReadonlyMap<string, string> {
  const seen = new Map([[start, '']])
  for (const [file] of seen) {
    if (!file.startsWith('src/')) continue
    for (const name of imports(file)) if (!seen.has(name)) seen.set(name, file)
  }
  return seen
}

test('the command line starts without the product: its commands load what they need', (t) => {
  const loaded = [...loadedWith('src/cli/gatehouse.ts')]
  t.true(loaded.length > 60)
  t.deepEqual(
    loaded.filter(([name]) => /^(?:@mikro-orm|mikro-orm|koa|@koa|undici|prom-client|jose)\b|^src\/(?:features|main)/.test(name)),
    [],
  )
})
