// The library links of the embedded PostgreSQL. Plain Node >= 18 without dependencies, because it runs before anything is installed.
import * as fs from 'node:fs'
import * as path from 'node:path'

/** Does what the packages' install scripts would do: links that an npm archive cannot carry, and the executable bits. */
export function linkPostgres(scope) {
  for (const platform of list(scope)) {
    const folder = path.join(scope, platform)
    for (const { source, target } of links(path.join(folder, 'native', 'pg-symlinks.json'))) {
      makeLink(path.relative(path.dirname(target), source), path.join(folder, target))
    }
    for (const name of list(path.join(folder, 'native', 'bin'))) makeExecutable(path.join(folder, 'native', 'bin', name))
  }
}

const links = (file) => (fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : [])

const list = (folder) => (fs.existsSync(folder) ? fs.readdirSync(folder) : [])

function makeLink(to, at) {
  if (linkOf(at) === to) return
  fs.rmSync(at, { force: true })
  fs.symlinkSync(to, at)
}

function linkOf(file) {
  try {
    return fs.readlinkSync(file)
  } catch {
    return null
  }
}

function makeExecutable(file) {
  const { mode } = fs.statSync(file)
  if ((mode & 0o555) !== 0o555) fs.chmodSync(file, mode | 0o555)
}
