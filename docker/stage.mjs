// Lays out the files of the image: `node docker/stage.mjs <built> <folder> [users]`, where <built> holds package.json, program and node_modules
// (which moves), and [users] is the base's /etc/passwd. Owner and times are the builder's affair. Modes are set here, so that they depend on nobody's umask: everybody may read, and
// group 0 may write the data folder, because clusters that give each namespace a user of its own still run it with group 0.
import { chmodSync, cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const checkout = path.resolve(import.meta.dirname, '..')
const [built, folder, users = '/etc/passwd'] = process.argv.slice(2)
const app = path.join(folder, 'app')
const launcher = path.join(folder, 'usr', 'local', 'bin', 'gatehouse')

/** What the program reads beside its code. */
const parts = ['assets', 'docker/ca', 'migrations', 'releases']

/** The release that the image is of, and the major version of the PostgreSQL that its base has for an evaluation. */
const { RELEASE, EMBEDDED_POSTGRES = 'no' } = process.env

/** Packages of which the program opens files by their path. The others are in the program itself: what stays of them says who made them. */
const opened = new Set(['node_modules/gpt-tokenizer', 'node_modules/swagger-ui-dist'])
const said = /^(?:package\.json|(?:licen[cs]e|copying|notice).*)$/i
/** What only compilers and people read. */
const unused = /\.(?:d\.[cm]?ts|[cm]?tsx?|map|flow|tsbuildinfo|markdown|md)$/i
/** Parts of packages that the program does not open: forms of the same code, and vocabularies of older models. */
const unusedParts = ['gpt-tokenizer/data', 'gpt-tokenizer/esm', 'gpt-tokenizer/src']

function stage() {
  demandRelease(JSON.parse(readFileSync(path.join(built, 'package.json'), 'utf8')).version)
  mkdirSync(app, { recursive: true })
  for (const part of parts) copy(path.join(checkout, part), path.join(app, part))
  copy(path.join(built, 'package.json'), path.join(app, 'package.json'))
  copy(path.join(built, 'program'), path.join(app, 'program'))
  renameSync(path.join(built, 'node_modules'), path.join(app, 'node_modules'))
  prune(path.join(app, 'node_modules'))
  if (EMBEDDED_POSTGRES !== 'no') linkPostgres()
  writeLauncher()
  writeUsers(path.join(folder, 'etc'))
  mkdirSync(path.join(folder, 'data'))
  setModes(folder)
  chmodSync(path.join(folder, 'data'), 0o775)
}

/** The label of an image says what runs in it: an image of another release is built from the checkout of that release. */
function demandRelease(version) {
  if (RELEASE !== undefined && RELEASE !== version) throw new Error(`RELEASE=${RELEASE}: this checkout is ${version}; build ${RELEASE} from its own`)
}

const copy = (from, to) => cpSync(from, to, { recursive: true, verbatimSymlinks: true })

/** An evaluation starts the PostgreSQL of Debian that its base has; npm's, with the libraries that it brings, is for checkouts and in no image. */
function linkPostgres() {
  if (!/^\d+$/.test(EMBEDDED_POSTGRES)) throw new Error(`EMBEDDED_POSTGRES=${EMBEDDED_POSTGRES}: write no, or the major version that the base has`)
  symlinkSync(`/usr/lib/postgresql/${EMBEDDED_POSTGRES}`, path.join(app, 'postgres'))
}

/** Takes out what nothing opens when the program runs. Packages of types go whole, from npm's list too. */
function prune(modules) {
  const file = path.join(modules, '.package-lock.json')
  const list = JSON.parse(readFileSync(file, 'utf8'))
  const isTypes = (place) => place.includes('node_modules/@types/')
  for (const place of Object.keys(list.packages).filter(isTypes)) rmSync(path.join(modules, '..', place), { recursive: true, force: true })
  list.packages = Object.fromEntries(Object.entries(list.packages).filter(([place]) => !isTypes(place)))
  writeFileSync(file, `${JSON.stringify(list, null, 2)}\n`)
  for (const part of unusedParts) rmSync(path.join(modules, part), { recursive: true, force: true })
  for (const place of Object.keys(list.packages)) {
    const inside = path.join(modules, '..', place)
    if (opened.has(place)) pruneFolder(inside)
    else for (const name of readdirSync(inside).filter((entry) => entry !== 'node_modules' && !said.test(entry))) rmSync(path.join(inside, name), { recursive: true })
  }
}

/** Gives whether nothing is left. */
function pruneFolder(folder) {
  const left = readdirSync(folder, { withFileTypes: true }).filter((entry) => {
    const inner = path.join(folder, entry.name)
    const goes = entry.isDirectory() ? pruneFolder(inner) : unused.test(entry.name) && !said.test(entry.name)
    if (goes) rmSync(inner, { recursive: true })
    return !goes
  })
  return left.length === 0
}

/** Started by the kernel and not by a shell, so that Node is the first process of the container. */
function writeLauncher() {
  mkdirSync(path.dirname(launcher), { recursive: true })
  writeFileSync(launcher, "#!/usr/local/bin/node --max-semi-space-size=8\nimport('/app/program/gatehouse.js')\n")
}

/** `initdb` asks for the name of its user. */
function writeUsers(etc) {
  mkdirSync(etc)
  const known = readFileSync(users, 'utf8').replace(/^gatehouse:.*\n/m, '')
  writeFileSync(path.join(etc, 'passwd'), `${known}gatehouse:x:10001:0:Gatehouse:/data:/usr/sbin/nologin\n`)
}

function setModes(entry) {
  const status = lstatSync(entry)
  if (status.isSymbolicLink()) return
  chmodSync(entry, status.isDirectory() || status.mode & 0o100 || entry === launcher ? 0o755 : 0o644)
  if (status.isDirectory()) for (const name of readdirSync(entry)) setModes(path.join(entry, name))
}

stage()
