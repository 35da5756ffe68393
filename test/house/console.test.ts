// The rules of the web console: its types are those of the API, and its parts depend in one direction.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { consoleTypes } from '../../scripts/documents/console-types.ts'

const folder = path.resolve(import.meta.dirname, '../../console')
const read = (file: string) => readFileSync(path.join(folder, file), 'utf8')
const files = readdirSync(path.join(folder, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => ({ name, text: read(path.join('src', name)) }))

test('the types of the console are those of the API description', (t) => {
  t.true(read('src/api/types.ts') === consoleTypes(), 'run "npm run docs:generate"')
})

test('the console uses each operation that it lists', (t) => {
  const code = files.filter(({ name }) => !/^api\/(?:used|types)\.ts$/.test(name)).map(({ text }) => text)
  const used = [...read('src/api/used.ts').matchAll(/'([A-Z]+ \/[^']+)'/g)].map(([, name = '']) => name)
  t.true(used.length > 10)
  t.deepEqual(
    used.filter((name) => !code.some((text) => text.includes(`'${name}'`))),
    [],
  )
})

test('only the client of the API sends requests, and nothing makes markup of texts', (t) => {
  const breaks = files.flatMap(({ name, text }) => [
    ...(/\b(?:fetch|XMLHttpRequest|EventSource|WebSocket|sendBeacon)\(/.test(text) && !name.startsWith('api/')
      ? [`${name} sends a request`]
      : []),
    ...(/dangerouslySetInnerHTML|innerHTML|outerHTML|\beval\(|new Function\(|document\.write/.test(text) ? [`${name} makes markup`] : []),
  ])
  t.deepEqual(breaks, [])
})

test('a page imports the API, the parts and the frame, and of other pages only what they share', (t) => {
  const shared = /^pages\/(?:logs\/(?:filter|range|snippet|use-range|use-tail)|providers\/add-integration|system\/health)\.tsx?$/
  const breaks = files.flatMap(({ name, text }) =>
    [...text.matchAll(/from '(\.[^']+)'/g)]
      .map(([, to = '']) => path.posix.join(path.posix.dirname(name), to))
      .filter((to) =>
        to.startsWith('pages/') && path.posix.dirname(to) !== path.posix.dirname(name)
          ? !shared.test(to) && to !== 'pages/index.ts'
          : false,
      )
      .map((to) => `${name} imports ${to}`),
  )
  t.deepEqual(breaks, [])
})

test('packages of the console come from the registry of npm, in exact versions', (t) => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) t.regex(version, /^\d+\.\d+\.\d+$/, name)
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { resolved?: string }> }
  for (const [name, { resolved }] of Object.entries(packages).filter(([place]) => place !== ''))
    t.true(resolved === undefined || resolved.startsWith('https://registry.npmjs.org/'), name)
})
