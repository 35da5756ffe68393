// The built files of the web console: the same everywhere, small, with the licences of their packages and no address of another origin.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { npmComponents } from '../../../tools/release/sbom/components.ts'

const root = path.resolve(import.meta.dirname, '../../..')
const build = (folder: string, env: Readonly<Record<string, string>> = {}) =>
  execFileSync(process.execPath, [path.join(folder, 'console/build.mjs')], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
const built = path.join(root, 'assets/console')
const namesIn = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()
const read = (name: string) => readFileSync(path.join(built, name), 'utf8')

test.before(() => build(root))

test('the same sources give the same files in another folder, time zone and language', (t) => {
  const other = mkdtempSync(path.join(tmpdir(), 'gatehouse-elsewhere-'))
  t.teardown(() => rmSync(other, { recursive: true }))
  mkdirSync(path.join(other, 'scripts'))
  cpSync(path.join(root, 'scripts/prepare'), path.join(other, 'scripts/prepare'), { recursive: true })
  // A link in place of the packages would change the names of the files.
  cpSync(path.join(root, 'console'), path.join(other, 'console'), { recursive: true })
  build(other, { TZ: 'Asia/Tokyo', LANG: 'de_DE.UTF-8' })
  t.deepEqual(namesIn(path.join(other, 'assets/console')), namesIn(built))
  t.is(readFileSync(path.join(other, 'assets/console/build.json'), 'utf8'), read('build.json'))
})

test('the files are at most 3 MB, the first page at most 220 kB of scripts and 24 kB of styles, compressed', (t) => {
  const sizeOf = (name: string) => statSync(path.join(built, name)).size
  t.true(namesIn(built).reduce((sum, name) => sum + sizeOf(name), 0) <= 3_000_000)
  const first = [...read('index.html').matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, name = '']) => name)
  const sum = (end: string) => first.filter((name) => name.endsWith(end)).reduce((size, name) => size + sizeOf(`${name}.gz`), 0)
  t.log(`first page: ${sum('.js')} bytes of scripts, ${sum('.css')} of styles`)
  t.true(sum('.js') > 50_000 && sum('.js') <= 220_000, `${sum('.js')}`)
  t.true(sum('.css') > 1000 && sum('.css') <= 24_000, `${sum('.css')}`)
})

test('each package has its licence beside the files, and is a component of bills of materials', (t) => {
  const components = npmComponents(read('components.json'))
  const names = new Set(components.map(({ component }) => component.name))
  for (const name of ['react', 'react-dom', '@mantine/core', '@tanstack/react-router']) t.true(names.has(name), name)
  t.false(names.has('vite'))
  for (const { component } of components) {
    t.true((component.licenses?.length ?? 0) > 0 && (component.hashes?.length ?? 0) > 0, component.name)
    t.true(read('licences.txt').includes(`${component.name} ${component.version} (`), component.name)
  }
})

/** Addresses in the code of libraries, which are shown or compared and never fetched: names of XML, and links to explanations of errors. */
const named = /^https?:\/\/(?:www\.w3\.org|react\.dev|reactjs\.org|localhost|mantine\.dev|github\.com|tanstack\.com|bit\.ly)(?:[/:]|$)/

test('the code names no other origin but in notes of its libraries', (t) => {
  const scripts = namesIn(built).filter((name) => name.endsWith('.js'))
  const found = scripts.flatMap((name) => [...read(name).matchAll(/https?:\/\/[\w.-]+[^\s"'`)\\]*/g)].map(([url]) => url))
  t.deepEqual([...new Set(found.filter((url) => !named.test(url)))], [])
  t.false(namesIn(built).some((name) => /service-?worker|sw\.js/i.test(name)))
})
