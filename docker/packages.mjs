// Fetches the Debian packages of the base: `node docker/packages.mjs <folder> <variant> [lock]`, where <variant> is `release`, or
// `evaluation` for PostgreSQL besides, and [lock] another list than docker/debian.lock.json. Exactly the packages that the list names
// come into the folder, or none: their SHA-256 decide, so that it does not matter from where they come. Beside them lies packages.json, which the
// provenance of a release is made of. Ends with 1 when something cannot be fetched, and with 4 when Debian has moved on to other versions.
//
// Looks into DEBIAN_CACHE (.tools/debian), then at DEBIAN_MIRROR (http://deb.debian.org), then at DEBIAN_SNAPSHOT
// (http://snapshot.debian.org), which keeps what mirrors drop. Plain Node >= 18 and apt's own downloader, which knows the proxies of this machine; runs before anything is installed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '..')
const downloader = '/usr/lib/apt/apt-helper'
const {
  DEBIAN_CACHE: cache = path.join(root, '.tools', 'debian'),
  DEBIAN_MIRROR: mirror = 'http://deb.debian.org',
  DEBIAN_SNAPSHOT: snapshot = 'http://snapshot.debian.org',
} = process.env
const goneCode = 4

const [folder, variant, lockFile = path.join(root, 'docker', 'debian.lock.json')] = process.argv.slice(2)

function fetchAll() {
  const lock = JSON.parse(readFileSync(lockFile, 'utf8'))
  const packages = packagesOf(lock)
  for (const directory of [folder, cache]) mkdirSync(directory, { recursive: true })
  const gone = packages.filter((entry) => !obtain(entry, lock.day))
  if (gone.length > 0) stop(goneMessage(gone, lock.day), goneCode)
  writeFileSync(path.join(folder, 'packages.json'), `${JSON.stringify({ debian: lock.debian, packages }, null, 2)}\n`)
}

function packagesOf({ wanted, packages }) {
  if (!(variant in wanted)) stop(`there is no variant ${variant} of the base: name one of ${Object.keys(wanted).join(', ')}`)
  const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch]
  const locked = packages[architecture]
  if (locked === undefined) stop(`${lockFile} names no packages for ${process.arch}`)
  const names = [...new Set([...wanted.release, ...wanted[variant]])].sort()
  const missing = names.filter((name) => locked[name] === undefined)
  if (missing.length > 0) stop(`${lockFile} has no version of ${missing.join(', ')}: run "gatehouse release lock"`)
  return names.map((name) => ({ name, architecture, ...locked[name] }))
}

/** Puts a package into the folder; false when nobody has this version any more. */
function obtain({ file, sha256 }, day) {
  const kept = path.join(cache, `${sha256}.deb`)
  const target = path.join(folder, path.basename(file))
  if (!existsSync(kept) || hashOf(kept) !== sha256) {
    const answers = sources(file, day).map((url) => () => download(url, { kept, sha256 }))
    const failures = []
    while (failures.length < answers.length) {
      const failure = answers[failures.length]()
      if (failure === null) break
      failures.push(failure)
    }
    if (failures.length === answers.length) {
      if (/\b404\s+Not Found/.test(failures[0])) return false
      stop(`${path.basename(file)} cannot be fetched:\n${failures.join('\n')}`)
    }
  }
  copyFileSync(kept, target)
  return true
}

function sources(file, day) {
  const [archive, ...rest] = file.split('/')
  const inner = rest.map(encodeURIComponent).join('/')
  const moment = `${day.replaceAll('-', '')}T235959Z`
  return [`${mirror}/${archive}/${inner}`, `${snapshot}/archive/${archive}/${moment}/${inner}`]
}

/** Null, or what went wrong. */
function download(url, { kept, sha256 }) {
  const part = `${kept}.${process.pid}`
  const options = ['-o', 'APT::Sandbox::User=root', '-o', 'Acquire::Retries=2', '-o', 'Acquire::http::Timeout=20']
  const run = spawnSync(downloader, [...options, 'download-file', url, part, `SHA256:${sha256}`], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } })
  try {
    if (run.status !== 0) return `${url}: ${(run.error?.message ?? run.stderr).trim()}`
    if (hashOf(part) !== sha256) return `${url}: its SHA-256 is ${hashOf(part)}, not ${sha256}`
    renameSync(part, kept)
    return null
  } finally {
    rmSync(part, { force: true })
  }
}

const hashOf = (file) => createHash('sha256').update(readFileSync(file)).digest('hex')

const goneMessage = (gone, day) =>
  [
    `Debian's mirrors have dropped ${gone.map(({ name, version }) => `${name} ${version}`).join(', ')}, and ${snapshot} does not give them.`,
    `The list is of ${day}; mirrors keep the newest version only. Do one of these:`,
    ...gone.map(({ file, sha256 }) => `  put ${path.basename(file)} (SHA-256 ${sha256}) into ${cache} as ${sha256}.deb`),
    '  set DEBIAN_MIRROR to a mirror that keeps old versions',
    '  run "gatehouse release lock" and commit the list: the image then has the newest versions, and another digest',
  ].join('\n')

function stop(message, code = 1) {
  process.stderr.write(`${message}\n`)
  process.exit(code)
}

if (folder === undefined || variant === undefined) stop('usage: node docker/packages.mjs <folder> <release|evaluation> [lock]')
if (!existsSync(downloader)) stop(`there is no ${downloader}: the base is made on Debian or Ubuntu`)
fetchAll()
