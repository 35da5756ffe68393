// Builds the web console into assets/console: `node console/build.mjs`. It does nothing when the files there are of these sources, and installs
// the console's packages first where they are missing. The step under way stands in .tools/console-build, where a running process reads it.
// The same sources give the same bytes: no clock, no path and no locale comes into a file.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const own = import.meta.dirname
const root = path.dirname(own)
const output = path.join(root, 'assets', 'console')
const stepFile = path.join(root, '.tools', 'console-build')
/** What the built files do not depend on. */
const unused = /^(?:node_modules|README\.md)(?:\/|$)/
const isPacked = /\.(?:js|css|svg|txt)$/

/** Returns one hash of all sources, and of the compressors, which come with Node. */
function hashSources() {
  const { zlib, brotli } = process.versions
  const hash = createHash('sha256').update(JSON.stringify([zlib, brotli]))
  const files = readdirSync(own, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const names = files.map(({ parentPath, name }) => path.relative(own, path.join(parentPath, name))).filter((name) => !unused.test(name))
  for (const name of names.sort())
    hash
      .update(`${name}\0`)
      .update(readFileSync(path.join(own, name)))
      .update('\0')
  return hash.digest('hex')
}

const isBuilt = (sources) => readJson(path.join(output, 'build.json'))?.sources === sources

async function run() {
  const sources = hashSources()
  if (isBuilt(sources)) return
  const { lock } = await import('../scripts/prepare/lock.mjs')
  const unlock = lock(path.join(root, '.tools', 'console.lock'))
  try {
    if (isBuilt(sources)) return
    if (!isInstalled()) await install()
    note('Building it')
    await build(sources)
    rmSync(stepFile, { force: true })
  } catch (error) {
    note(`It could not be built: ${error.message}`)
    throw error
  } finally {
    unlock()
  }
}

function note(text) {
  mkdirSync(path.dirname(stepFile), { recursive: true })
  writeFileSync(stepFile, text)
  process.stderr.write(`The console: ${text} ...\n`)
}

/** Optional packages are of other machines. */
function isInstalled() {
  const { packages } = readJson(path.join(own, 'package-lock.json'))
  const installed = readJson(path.join(own, 'node_modules', '.package-lock.json'))?.packages ?? {}
  return Object.entries(packages).every(
    ([place, { version, optional }]) => place === '' || optional || installed[place]?.version === version,
  )
}

async function install() {
  note('Installing its packages')
  const { runNpm } = await import('../scripts/prepare/npm.mjs')
  const { status, output: said } = runNpm(own, ['ci', '--include=dev'])
  if (status !== 0) throw new Error(`npm failed:\n${said}`)
}

async function build(sources) {
  // Libraries have other code for tests and development, and the folder of the process comes into the names of files.
  process.env.NODE_ENV = 'production'
  process.chdir(own)
  const vite = await import('vite')
  const work = path.join(root, '.tools', `console-${process.pid}`)
  rmSync(work, { recursive: true, force: true })
  const { output: built } = await vite.build({
    root: own,
    base: './',
    configFile: false,
    envDir: false,
    logLevel: 'error',
    publicDir: false,
    build: {
      outDir: work,
      emptyOutDir: true,
      target: 'es2022',
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: {
        output: { chunkFileNames: 'assets/part-[hash].js', codeSplitting: { groups: [{ name: 'libraries', test: /node_modules/, entriesAware: true }] } },
      },
    },
  })
  const taken = built.flatMap((chunk) => chunk.moduleIds ?? [])
  writeFileSync(path.join(work, 'components.json'), `${JSON.stringify(componentsOf(taken), null, 2)}\n`)
  writeFileSync(path.join(work, 'licences.txt'), licencesOf(taken))
  for (const file of filesIn(work).filter((name) => isPacked.test(name))) pack(path.join(work, file))
  const files = Object.fromEntries(filesIn(work).map((name) => [name, digest(path.join(work, name))]))
  writeFileSync(path.join(work, 'build.json'), `${JSON.stringify({ sources, files }, null, 2)}\n`)
  rmSync(output, { recursive: true, force: true })
  mkdirSync(path.dirname(output), { recursive: true })
  renameSync(work, output)
}

const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.relative(folder, path.join(parentPath, name)))
    .sort()

function pack(file) {
  const bytes = readFileSync(file)
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }))
}

const digest = (file) => createHash('sha256').update(readFileSync(file)).digest('hex')

/** The places of the packages that the built files have code of, such as `node_modules/react`. */
function placesOf(taken) {
  const places = taken.map((id) => /^(?:node_modules\/(?:@[^/]+\/)?[^/]+\/?)+(?=\/|$)/.exec(path.relative(own, id.replace(/[?\0].*$/, '')))?.[0])
  return [...new Set(places.filter((place) => place !== undefined))].sort()
}

/** The entries of the lock file for the bill of materials. */
function componentsOf(taken) {
  const { packages } = readJson(path.join(own, 'package-lock.json'))
  return { packages: Object.fromEntries(placesOf(taken).map((place) => [place, packages[place]])) }
}

function licencesOf(taken) {
  const texts = placesOf(taken).map((place) => {
    const folder = path.join(own, place)
    const { name, version, license } = readJson(path.join(folder, 'package.json'))
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
    return `${name} ${version} (${license})\n\n${file === undefined ? '' : readFileSync(path.join(folder, file), 'utf8').trim()}\n`
  })
  return texts.join(`\n${'-'.repeat(72)}\n\n`)
}

function readJson(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null
}

await run()
