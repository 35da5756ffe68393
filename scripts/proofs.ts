// Runs the programs of others that prove parts of the product: `npm run proofs [-- --changed] [<proof>...]`. With `--changed` a proof is run only when
// the hash of the files that it proves differs from the recorded one in test/proofs.json; else a loud line names the commit's hash in its place, and
// `npm run nightly` runs it. A proof that passes without a skipped check is recorded, except in continuous integration, which commits no file.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { runScript } from './run-script.ts'

const root = path.resolve(import.meta.dirname, '..')
const recorded = path.join(root, 'test', 'proofs.json')

/** Each proof is a script of package.json, with the files and folders whose change asks for it. */
const proofs: Readonly<Record<string, readonly string[]>> = {
  clients: [
    'scripts/clients.ts',
    'src/gateway',
    'src/lib',
    'test/conformance/sides',
    'test/conformance/talk.ts',
    'test/support/gateway.ts',
  ],
  'log-stores': [
    'package-lock.json',
    'scripts/log-stores.ts',
    'scripts/object-servers',
    'scripts/tools.ts',
    'src/app/log-store',
    'src/app/secret-managers',
    'src/gateway/credentials',
    'src/gateway/egress',
    'src/lib',
  ],
  'mcp-conformance': [
    'package-lock.json',
    'scripts/mcp-conformance.ts',
    'src/gateway/egress',
    'src/gateway/mcp',
    'src/lib',
    'test/support/gateway.ts',
    'test/support/mcp',
  ],
  'secret-managers': [
    'package-lock.json',
    'scripts/secret-managers',
    'scripts/secret-managers.ts',
    'scripts/tools.ts',
    'src/app/secret-managers',
    'src/gateway/credentials',
    'src/gateway/egress',
    'src/gateway/secrets',
    'src/lib',
  ],
}

/** Returns the files below a place, as paths from the root, in one order on every machine. */
function filesBelow(place: string): readonly string[] {
  const full = path.join(root, place)
  if (!statSync(full).isDirectory()) return [place]
  return readdirSync(full, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'))
    .toSorted()
}

function hashOf(places: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of places.flatMap(filesBelow)) hash.update(`${file}\n`).update(readFileSync(path.join(root, file)))
  return hash.digest('hex')
}

const readRecord = () => JSON.parse(readFileSync(recorded, 'utf8')) as Readonly<Record<string, string>>

function keep(name: string, hash: string): void {
  const record = Object.entries({ ...readRecord(), [name]: hash }).toSorted(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(recorded, `${JSON.stringify(Object.fromEntries(record), null, 2)}\n`)
}

const { values, positionals } = parseArgs({ options: { changed: { type: 'boolean', default: false } }, allowPositionals: true })
const unknown = positionals.find((name) => proofs[name] === undefined)
if (unknown !== undefined) throw new RangeError(`${unknown} is no proof: there are ${Object.keys(proofs).join(', ')}`)
const record = readRecord()
for (const [name, places] of Object.entries(proofs)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  const hash = hashOf(places)
  if (values.changed && record[name] === hash) {
    console.log(
      `NOT RUN - ${name}: it passed with the same files (${hash.slice(0, 12)}). "npm run nightly" runs it, and "npm run ${name}".`,
    )
    continue
  }
  const { passed, skipped } = await runScript({ script: name })
  if (!passed) process.exitCode = 1
  else if (skipped.length === 0 && process.env['CI'] === undefined) keep(name, hash)
}
