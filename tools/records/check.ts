import type { Finding, Project, Rule } from '../../src/release/project.ts'
import { apiMatches, breakingHasCheck, featuresMatch, settingsMatch } from './rules/code-rules.ts'
import { fieldsMatch, marksAreReleases, notesAreProved } from './rules/field-rules.ts'
import { buildIsRecorded, chartIsSelfContained, generatedIsCurrent, imagesAreLocked, lockedIsUnchanged } from './rules/file-rules.ts'
import { migrationsMatch } from './rules/migration-rules.ts'
import { chartsFit, floorsAscend, hasChart, isOrdered, matchesPublished } from './rules/table-rules.ts'

/** R1 to R18, in order. */
export const rules: readonly Rule[] = [
  matchesPublished,
  isOrdered,
  hasChart,
  floorsAscend,
  chartsFit,
  featuresMatch,
  settingsMatch,
  migrationsMatch,
  lockedIsUnchanged,
  breakingHasCheck,
  generatedIsCurrent,
  imagesAreLocked,
  chartIsSelfContained,
  apiMatches,
  buildIsRecorded,
  fieldsMatch,
  notesAreProved,
  marksAreReleases,
]

/** Everything that the rules have against the project, in their order. */
export const check = (project: Project): readonly Finding[] => rules.flatMap((rule) => rule(project))
