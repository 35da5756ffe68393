import type { z } from 'zod'
import type { Project } from '../../src/release/project.ts'
import type { ReleaseRecord } from '../../src/release/record.ts'
import { kindOf } from './rules/table-rules.ts'
import { folderOf } from '../../src/release/version.ts'

type Draft = z.input<typeof ReleaseRecord>
type Phase = ReleaseRecord['migrations'][number]['phase']

/** The release to scaffold; `phases` gives the name of each migration file, by its id. */
export interface ReleaseDraft {
  readonly version: string
  readonly date: string
  readonly phases: Readonly<Record<string, Phase>>
}

const unwritten = 'TODO: one line for each thing that changed, in the words of an operator.'
const order: readonly Phase[] = ['expand', 'backfill', 'contract']

/** The record of a new release, as far as it can be read from the code: its additions that no record names. Floors are the former release's. */
export function scaffold(project: Project, { version, date, phases }: ReleaseDraft): Draft {
  const { releases } = project.table
  const former = releases.at(-1)
  const features = { added: newFeatures(project), changed: newChanges(project, version), removed: [] }
  const env = { added: newSettings(project), changed: [], removed: [] }
  return {
    version,
    date,
    chart: former?.chart ?? null,
    kind: kindOf({ version, features, security: [] }),
    features,
    env,
    api: operations(project, version, former?.version),
    migrations: newMigrations(project, version)
      .map((id) => ({ id, phase: phases[id] ?? 'expand' }))
      .toSorted((one, other) => order.indexOf(one.phase) - order.indexOf(other.phase)),
    postgres: former?.postgres ?? '>=14 <19',
    kubernetes: former?.kubernetes ?? '>=1.25',
    notes: `${unwritten}\n`,
  }
}

const named = ({ table }: Project, of: 'features' | 'env') => new Set(table.releases.flatMap((release) => release[of].added))

function newFeatures(project: Project): string[] {
  const known = named(project, 'features')
  return project.code.features.map(({ id }) => id).filter((id) => !known.has(id))
}

const newChanges = ({ code }: Project, version: string) =>
  code.features.filter(({ changes = [] }) => changes.includes(version)).map(({ id }) => id)

function newSettings(project: Project): string[] {
  const known = named(project, 'env')
  return project.code.settings.map(({ name }) => name).filter((name) => !known.has(name))
}

function newMigrations({ table, hashes }: Project, version: string): readonly string[] {
  const known = new Set(table.releases.flatMap(({ migrations }) => migrations.map(({ id }) => id)))
  return Object.keys(hashes.migrations).filter((id) => !known.has(id) && id.startsWith(`${folderOf(version)}/`))
}

/** Returns the operations that only the new level serves, and those that only the former one serves. */
function operations({ code }: Project, version: string, former: string | undefined) {
  const before = new Set(former === undefined ? [] : code.operations(former))
  const now = new Set(code.operations(version))
  return { added: [...now].filter((name) => !before.has(name)), changed: [], removed: [...before].filter((name) => !now.has(name)) }
}
