import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ExecutionContext } from 'ava'
import { preflightChecks } from '../../src/cli/preflight/checks.ts'
import type { Verdict } from '../../src/cli/preflight/check.ts'
import { runChecks } from '../../src/cli/preflight/run.ts'
import { openStage, usualCircumstances, type Circumstances } from '../../src/cli/preflight/stage.ts'
import type { DatabaseConfig } from '../../src/config/index.ts'
import { silent } from './database.ts'
import { environment } from './process.ts'

/** The result of one check for an environment. */
export async function verdictOf(
  id: string,
  env: Readonly<Record<string, string>>,
  circumstances: Partial<Circumstances> = {},
): Promise<Verdict> {
  const check = preflightChecks.find((known) => known.id === id)
  if (check === undefined) throw new Error(`there is no check ${id}`)
  const stage = openStage(env, { ...usualCircumstances, ...circumstances }, silent)
  try {
    const [result] = await runChecks([check], stage)
    if (result === undefined) throw new Error('no result')
    const { id: _, ...verdict } = result
    return verdict
  } finally {
    await stage.close()
  }
}

/** The settings of a process on this database, with a data folder that goes with the test. */
export function settingsFor(t: ExecutionContext, database: DatabaseConfig): Record<string, string> {
  return { ...environment(database), DATA_DIR: temporaryFolder(t) }
}

/** A folder that goes with the test. */
export function temporaryFolder(t: ExecutionContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-operator-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
