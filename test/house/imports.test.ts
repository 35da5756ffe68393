import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'

const root = path.resolve(import.meta.dirname, '../..')
const sources = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file: `src/${file}`, text: readFileSync(path.join(root, 'src', file), 'utf8') }))

/** The imports of a file: packages by name, files by their path in the repository. */
function imports({ file, text }: { file: string; text: string }): readonly string[] {
  const found = [...text.matchAll(/^(?:import|export)\b[^'"\n]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm)]
  return found.map(([, a, b, c]) => {
    const name = a ?? b ?? c ?? ''
    return name.startsWith('.') ? path.posix.join(path.posix.dirname(file), name) : name
  })
}

/** The folders and packages that the files of a folder may import; the first row that fits a file counts. */
const rules: readonly (readonly [folder: string, allowed: RegExp])[] = [
  ['src/lib/guesser.ts', /^@zxcvbn-ts\//],
  ['src/lib/', /^(?:node:(?!net|tls|dns|http)|zod$|src\/lib\/|src\/release\/(?:since|at-level|level)\.ts$)/],
  ['src/gateway/egress/', /^(?:node:|undici(?:\/lib\/dispatcher\/client\.js)?$|ipaddr\.js$|src\/lib\/|src\/gateway\/egress\/)/],
  ['src/gateway/dialects/', /^(?:zod$|src\/lib\/|src\/gateway\/(?:dialects|wire)\/)/],
  [
    'src/gateway/',
    /^(?:node:(?!net|tls|dns|https)|jose$|mustache$|re2js$|zod$|src\/lib\/|src\/release\/(?:since|at-level|level)\.ts$|src\/gateway\/)/,
  ],
  ['src/release/', /^(?:zod$|src\/release\/)/],
  [
    'src/distribution/',
    /^(?:node:(?!net|tls|https?$|dns)|zod$|yaml$|src\/lib\/|src\/release\/|src\/distribution\/|src\/gateway\/egress\/)/,
  ],
  ['src/config/', /^(?:node:|envalid$|zod$|ipaddr\.js$|src\/lib\/|src\/release\/(?:version|published)\.ts$|src\/config\/)/],
  [
    'src/features/',
    /^(?!koa|@koa|undici|src\/gateway\/(?:pipeline|answers\/|attempts\/|egress\/(?!egress\.ts))|src\/app\/http\/|src\/main)/,
  ],
  ['src/app/', /^(?!undici|src\/features\/|src\/main)/],
]

for (const [folder, allowed] of rules)
  test(`imports of ${folder}`, (t) => {
    const earlier = rules
      .slice(
        0,
        rules.findIndex(([name]) => name === folder),
      )
      .filter(([name]) => name.startsWith(folder))
    const own = sources.filter(({ file }) => file.startsWith(folder) && !earlier.some(([name]) => file.startsWith(name)))
    t.true(own.length > 0)
    t.deepEqual(
      own.flatMap((source) => imports(source).flatMap((name) => (allowed.test(name) ? [] : [`${source.file} imports ${name}`]))),
      [],
    )
  })

/** The names of the data plane that the rest of the house may import: one line a folder. A new name here is a new thing that both planes share. */
const gatewayDoors: readonly string[] = [
  'gateway ports batches/ask-batch batches/batch-cost batches/video-cost exchange/exchange exchange/node-exchange',
  'bounds/prompt bounds/validate operations/fronts operations/match operations/operations pipeline',
  'credentials/auth-request credentials/authorize credentials/azure-storage credentials/entra credentials/google-federation credentials/signing credentials/sigv4 credentials/web-identity credentials/workload/workload credentials/workload/aws-identity credentials/workload/azure-identity credentials/workload/google-identity',
  'secrets/read-secret secrets/secret-cache secrets/secret-reference secrets/test-secret egress/metadata-services',
  'callers/identify callers/failed-credentials key-sets/jwks callers/tokens/tokens callers/tokens/token-refusals',
  'checks/check checks/check-release checks/guardrail checks/guardrail.schema checks/partners/plugins checks/registry checks/secrets',
  'checks/try-guardrail dialects/openai-chat/parameters dialects/openai-responses/response-id dialects/stream-whole dialects/texts/walk',
  'cache/answer-store cache/embed cache/recall cache/vectors callers/key stored-responses/response-store',
  'config/compile config/config.schema providers/provider-fields patterns/pattern-making',
  'prompts/bounds prompts/partials prompts/prompt prompts/prompt-template prompts/reference prompts/template',
  'dialects/neutral/counts dialects/neutral/model models/list-path models/model-facts models/offered-models models/test-provider providers/catalog/labels',
  'providers/catalog providers/endpoint providers/fields providers/meant-provider providers/provider routing/breaker routing/state routing/verdict',
  'egress/allowed-hosts egress/create-egress egress/egress egress/narrowed egress/proxies tracing/ids',
  'journal/confidential journal/frame journal/journal journal/log-seal journal/owner journal/reader journal/record journal/segment limits/counters limits/lease-ledger limits/limit limits/policy limits/value-key limits/written-limits',
  'prices/entry prices/multipliers prices/names prices/price-source prices/price-usage prices/rates prices/resolve prices/state-of prices/terms prices/whole metering/runs ending/metrics ending/query-keys ending/record ending/redact wire/bearer wire/header-list wire/headers',
]

test('the rest of the house imports of the data plane what is listed here', (t) => {
  const listed = gatewayDoors.flatMap((line) => line.split(' ')).map((name) => `src/gateway/${name}.ts`)
  const imported = sources
    .filter(({ file }) => !file.startsWith('src/gateway/'))
    .flatMap((source) => imports(source).filter((name) => name.startsWith('src/gateway/')))
  t.deepEqual([...new Set(imported)].toSorted(), listed.toSorted())
})

test('no file imports itself, by whatever way; imports of types count', (t) => {
  const known = new Set(sources.map(({ file }) => file))
  const left = new Map(sources.map((source) => [source.file, imports(source).filter((name) => known.has(name))]))
  // A file without imports that are left is in no circle: take it away, until only circles and the files that lead into them are left.
  for (let gone = true; gone;) {
    const free = [...left].filter(([, names]) => !names.some((name) => left.has(name))).map(([file]) => file)
    for (const file of free) left.delete(file)
    gone = free.length > 0
  }
  const importers = new Set([...left.values()].flat())
  t.deepEqual(
    [...left.keys()].filter((file) => importers.has(file)),
    [],
  )
})

test('a feature reaches another only through its index or its entities', (t) => {
  const inner = sources
    .filter(({ file }) => file.startsWith('src/features/'))
    .flatMap((source) => {
      const own = source.file.split('/').slice(0, 3).join('/')
      return imports(source)
        .filter((name) => /^src\/features\/[^/]+\//.test(name) && !name.startsWith(`${own}/`))
        .filter((name) => !/\/(?:index|[a-z-]+\.entity|[a-z-]+\.schema)\.ts$/.test(name))
        .map((name) => `${source.file} imports ${name}`)
    })
  t.deepEqual(inner, [])
})

test('the environment is read in src/config alone, and nothing but the egress reaches out', (t) => {
  const reads = sources.filter(({ file, text }) => !file.startsWith('src/config/') && /\bprocess\.env\b/.test(text))
  t.deepEqual(
    reads.map(({ file }) => file),
    [],
  )
  const reaches = sources.filter(
    ({ file, text }) => !file.startsWith('src/gateway/egress/') && /(?<![.\w])fetch\(|new WebSocket\(/.test(text),
  )
  t.deepEqual(
    reaches.map(({ file }) => file),
    [],
  )
  const withoutProxies = sources.filter(({ text }) =>
    text
      .split('createEgress({')
      .slice(1)
      .some((call) => !call.slice(0, call.indexOf('})')).includes('proxies')),
  )
  t.deepEqual(
    withoutProxies.map(({ file }) => file),
    ['src/cli/ask-process.ts'],
    'what reaches out must know the forward proxies; only the process of this machine is asked directly',
  )
})

/** The files that may open a connection to the database: the pool of the ORM, the uses that `src/config/side-sessions.ts` counts, and work before or after serving. */
const opensConnections =
  /^src\/(?:app\/database\/(?:session|orm|side-sessions|side-pool|connect|pooler|schema\/(?:migration-lock|migration-client)|embedded\/server)|cli\/.+)\.ts$/

test('a process opens no database connection beside the pool that is not counted', (t) => {
  const opening = sources.filter(({ text }) => /\bsession(?:Client|Pool)\b|\bnew (?:Client|Pool)\(\{/.test(text))
  t.true(opening.length > 5)
  t.deepEqual(
    opening.flatMap(({ file }) => (opensConnections.test(file) ? [] : [`${file}: take it of the side pool, or open it with sideClient`])),
    [],
  )
})
