import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'

const root = path.resolve(import.meta.dirname, '../..')
const sources = ['src', 'tools'].flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ file: `${folder}/${file}`, text: readFileSync(path.join(root, folder, file), 'utf8') })),
)

/** The imports of a file: packages by name, files by their path in the repository. */
function imports({ file, text }: { file: string; text: string }): readonly string[] {
  const found = [...text.matchAll(/^(?:import|export)\b[\s\w$*,{}]*?\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm)]
  return found.map(([, a, b, c]) => {
    const name = a ?? b ?? c ?? ''
    return name.startsWith('.') ? path.posix.join(path.posix.dirname(file), name) : name
  })
}

/** The folders and packages that the files of a folder may import; the first row that fits a file counts. */
const rules: readonly (readonly [folder: string, allowed: RegExp])[] = [
  ['src/lib/guesser.ts', /^@zxcvbn-ts\//],
  ['src/lib/', /^(?:node:(?!net|tls|dns|http)|zod$|src\/lib\/|src\/release\/(?:since|at-level|level)\.ts$)/],
  ['src/gateway/egress/', /^(?:node:|ws$|undici(?:\/lib\/dispatcher\/client\.js)?$|ipaddr\.js$|src\/lib\/|src\/gateway\/egress\/)/],
  ['src/gateway/dialects/', /^(?:zod$|src\/lib\/|src\/gateway\/(?:dialects|wire)\/)/],
  [
    'src/gateway/',
    /^(?:node:(?!net|tls|dns|https)|jose$|mustache$|re2js$|zod$|src\/lib\/|src\/release\/(?:since|at-level|level)\.ts$|src\/gateway\/)/,
  ],
  ['src/release/', /^(?:zod$|src\/release\/)/],
  [
    'src/distribution/',
    /^(?:node:(?!net|tls|https?$|dns)|zod$|yaml$|src\/lib\/|src\/release\/|src\/distribution\/|src\/gateway\/ports\/egress)/,
  ],
  ['src/config/', /^(?:node:|envalid$|zod$|ipaddr\.js$|src\/lib\/|src\/release\/(?:version|published)\.ts$|src\/config\/)/],
  ['src/features/', /^(?!koa|@koa|undici|src\/gateway\/(?!ports(?:\.ts$|\/(?!egress-making)))|src\/app\/http\/|src\/main|tools\/)/],
  ['src/app/', /^(?!undici|src\/features\/|src\/main|tools\/)/],
  ['src/', /^(?!tools\/)/],
  ['tools/records/', /^(?:node:(?!net|tls|https?$|dns)|zod$|yaml$|src\/|tools\/(?:records|chart)\/)/],
  ['tools/chart/', /^(?:node:(?:fs|path)$|yaml$|src\/(?:release|config)\/|tools\/(?:records|chart)\/)/],
  [
    'tools/',
    /^(?:node:(?!net|tls|https?$|dns)|zod$|yaml$|commander$|src\/(?:lib|release|distribution|cli|app\/database\/schema)\/|tools\/)/,
  ],
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

/** Where the frame starts the data plane and hands requests to it. */
const entryPoints = ['gateway', 'pipeline', 'exchange/exchange', 'exchange/node-exchange', 'exchange/upgrade-exchange'].map(
  (name) => `src/gateway/${name}.ts`,
)

const isPort = (file: string): boolean => /^src\/gateway\/ports(?:\/[a-z-]+)?\.ts$/.test(file)

test('the rest of the house reaches the data plane through its ports and entry points', (t) => {
  const imported = sources
    .filter(({ file }) => !file.startsWith('src/gateway/'))
    .flatMap((source) => imports(source).filter((name) => name.startsWith('src/gateway/')))
  t.deepEqual([...new Set(imported)].filter((name) => !isPort(name)).toSorted(), entryPoints.toSorted())
  const ports = sources.flatMap(({ file }) => (isPort(file) ? [file] : []))
  t.deepEqual([...new Set(imported)].filter(isPort).toSorted(), ports.toSorted())
})

test('a port has no code, and no name that the rest of the house does not use', (t) => {
  const outside = sources.filter(({ file }) => !file.startsWith('src/gateway/')).map(({ text }) => text)
  for (const { file, text } of sources.filter((source) => source.file.startsWith('src/gateway/ports/'))) {
    const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from '[^']+'$/gm)]
    t.is(text.replace(/^\/\*\*.*\*\/\n/, '').trim(), lists.map(([whole]) => whole).join('\n'), file)
    const names = lists.flatMap(([, list = '']) => list.split(',').map((name) => name.trim().replace(/^type /, '')))
    const users = outside.filter((other) => other.includes(`/${file.slice('src/'.length)}'`))
    const unused = names.filter((name) => name !== '' && !users.some((user) => new RegExp(`\\b${name}\\b`).test(user)))
    t.deepEqual(unused, [], file)
  }
})

test('the product has no code that only its makers use', (t) => {
  const texts = new Map(sources.map((source) => [source.file, source]))
  const lists = readFileSync(path.join(root, 'docker/bundle.mjs'), 'utf8').matchAll(/^const (?:threads|entryPoints) = \[([^\]]*)\]/gm)
  const loaded = new Set([...lists].flatMap(([, list = '']) => [...list.matchAll(/'([^']+)'/g)].map(([, file = '']) => file)))
  t.true(loaded.size > 2)
  for (const file of loaded) for (const name of imports(texts.get(file) ?? { file, text: '' })) if (texts.has(name)) loaded.add(name)
  const own = sources.filter(({ file }) => file.startsWith('src/') && !file.endsWith('.d.ts'))
  t.deepEqual(
    own.flatMap(({ file }) => (loaded.has(file) ? [] : [file])),
    [],
    'move it to tools/, scripts/ or test/',
  )
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
