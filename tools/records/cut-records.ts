import type { Code, Project } from '../../src/release/project.ts'
import type { ReleaseTable } from '../../src/release/table.ts'
import { compareVersions } from '../../src/release/version.ts'

const upTo = (release: string) => (version: string) => compareVersions(version, release) <= 0

/** The records as they were when a release came: it is the newest, and charts that were cut for later ones are not there. */
export const cutTable = ({ releases, charts }: ReleaseTable, release: string): ReleaseTable => ({
  releases: releases.filter(({ version }) => upTo(release)(version)),
  charts: charts.filter(({ appVersion }) => upTo(release)(appVersion)),
})

/** Returns the code's own description without the additions after its release. */
export function cutCode(code: Code): Code {
  const has = upTo(code.version)
  const known = code.features.filter(({ since }) => has(since))
  return {
    ...code,
    features: known.map(({ id, since, incomplete, changes = [] }) => ({ id, since, incomplete, changes: changes.filter(has) })),
    fields: code.fields.filter(({ since }) => has(since)),
  }
}

/** The announcements up to a release. */
export const cutPublished = (published: Project['published'], release: string): Project['published'] =>
  published.filter(({ version }) => upTo(release)(version))
