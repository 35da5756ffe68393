import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ExecutionContext } from 'ava'
import { readMigrations } from '../../src/app/database/schema/migration-files.ts'
import { findProjectPath } from '../../src/app/database/project-path.ts'

/**
 * The product's expand migrations with more migrations, each given as `v01.05.00/001-name` and SQL, in a folder of the test's own. The product's own
 * backfills and contract steps are left out, so that a test sees only its own.
 */
export async function withMigrations(t: ExecutionContext, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-migrations-'))
  t.teardown(() => rm(folder, { recursive: true }))
  await cp(findProjectPath('migrations') ?? '', folder, { recursive: true })
  for (const { id, phase } of await readMigrations(folder)) if (phase !== 'expand') await rm(path.join(folder, `${id}.sql`))
  for (const [id, sql] of Object.entries(files)) {
    await mkdir(path.join(folder, path.dirname(id)), { recursive: true })
    await writeFile(path.join(folder, `${id}.sql`), sql)
  }
  return folder
}
