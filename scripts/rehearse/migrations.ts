import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readMigrations } from '../../src/app/database/migration-files.ts'
import { compareVersions } from '../../src/release/version.ts'

/** The folders of migrations of a product, as each of its releases had them. */
export interface Migrations {
  /** All of them, which this checkout's code needs. */
  readonly all: string
  /** Those up to a release, the same folder for releases that have the same; null when there are no later ones. */
  upTo(release: string): Promise<string | null>
  readonly remove: () => Promise<void>
}

/** Cuts a folder of migrations at releases, in copies. */
export async function openMigrations(all: string): Promise<Migrations> {
  const files = await readMigrations(all)
  const copies = await mkdtemp(path.join(tmpdir(), 'gatehouse-migrations-'))
  const cut = new Map<string, Promise<string>>()
  const copy = async (release: string) => {
    const folder = path.join(copies, release)
    const kept = new Set(files.filter((file) => compareVersions(file.release, release) <= 0).map(({ id }) => path.dirname(id)))
    const names = (await readdir(all)).filter((name) => kept.has(name))
    for (const name of names) await cp(path.join(all, name), path.join(folder, name), { recursive: true })
    return folder
  }
  return {
    all,
    async upTo(release) {
      const kept = files.filter((file) => compareVersions(file.release, release) <= 0)
      if (kept.length === files.length) return null
      const last = kept.at(-1)?.release ?? release
      const made = cut.get(last) ?? copy(last)
      cut.set(last, made)
      return made
    },
    remove: () => rm(copies, { recursive: true, force: true }),
  }
}
