import { fieldsOf, isClaimed } from '../../../src/release/items.ts'
import type { Finding, Rule } from '../../../src/release/project.ts'
import { compareVersions } from '../../../src/release/version.ts'

const name = ({ at, operation }: { readonly at: string; readonly operation: string }) => `${at} of ${operation}`

/** R16: the marks in the code are those that the records name, release by release; and an entry that works does not count as pending. */
export const fieldsMatch: Rule = (project) => {
  const { table, code } = project
  return table.releases.flatMap((release) => {
    const marked = new Set(code.fields.filter(({ since }) => since === release.version).map(name))
    const recorded = fieldsOf(release)
    const known = new Set(recorded.map(name))
    const { added, changed } = release.features
    return [
      ...[...marked].filter((one) => !known.has(one)).map((one) => `the code brings ${one}, which its record does not name`),
      ...recorded
        .filter((one) => !marked.has(name(one)) && isClaimed(release, one.feature, code))
        .map((one) => `its record names ${name(one)} for ${one.feature}, and nothing in the code is marked so`),
      ...recorded
        .filter((one) => marked.has(name(one)) && !isClaimed(release, one.feature, code))
        .map((one) => `${name(one)} works, and ${one.feature} counts as pending`),
      ...Object.keys(release.fields)
        .filter((feature) => !added.includes(feature) && !changed.includes(feature))
        .map((feature) => `its record names fields of ${feature}, which it neither adds nor changes`),
    ].map((message): Finding => ({ rule: 'R16', where: release.version, message }))
  })
}

/** R17: each line of the notes belongs to an entry of the record, so that its presence in a build can be checked. */
export const notesAreProved: Rule = ({ table }) =>
  table.releases.flatMap(({ features, env, notes, version }) => {
    const names = new Set([...features.added, ...features.changed, ...env.added])
    const unknown = [...new Set(notes.flatMap(({ of }) => of))].filter((one) => !names.has(one))
    return unknown.map((one): Finding => ({
      rule: 'R17',
      where: version,
      message: `its notes are of ${one}, which it neither adds nor changes`,
    }))
  })

/** R18: a mark names a release that there is. */
export const marksAreReleases: Rule = ({ table, code }) =>
  [...new Set(code.fields.map(({ since }) => since))]
    .filter((since) => !table.releases.some(({ version }) => version === since) && compareVersions(since, code.version) <= 0)
    .map((since): Finding => ({ rule: 'R18', where: since, message: 'fields are marked with it, and it has no record' }))
