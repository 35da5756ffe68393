import test from 'ava'
import { check } from '../../tools/records/check.ts'
import type { Finding, Project } from '../../src/release/project.ts'
import { soundProject, withRelease } from './release-project.ts'

/** The project that the fixtures damage. */
export const sound = soundProject()
/** The sound project with other code. */
export const code = (change: Partial<Project['code']>): Project => ({ ...sound, code: { ...sound.code, ...change } })
/** The sound project with other charts. */
export const charts = (change: (charts: Project['table']['charts']) => Project['table']['charts']): Project => ({
  ...sound,
  table: { ...sound.table, charts: change(sound.table.charts) },
})
/** The sound project with one release changed. */
export const release = (version: string, change: Parameters<typeof withRelease>[2]) => withRelease(sound, version, change)

/** Exactly one rule refuses the fixture, with the place and the reason; only then does the test prove that rule. */
export const refuses = test.macro({
  exec: (t, rule: Finding['rule'], project: Project, expected: string) => {
    const faults = check(project).filter(({ pending }) => !pending)
    t.true(
      faults.some(({ where, message }) => `${where}: ${message}` === expected),
      JSON.stringify(faults, null, 1),
    )
    t.deepEqual([...new Set(faults.map((fault) => fault.rule))], [rule])
  },
  title: (_, rule: string, _project: Project, expected: string) => `${rule} refuses: ${expected}`,
})
