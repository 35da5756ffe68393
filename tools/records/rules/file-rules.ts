import type { Finding, Rule } from '../../../src/release/project.ts'
import { findRelease } from '../../../src/release/table.ts'

/** R9: released files stay as they were: the record and its migrations. */
export const lockedIsUnchanged: Rule = ({ table, locks, hashes }) =>
  locks.flatMap(({ version, record, migrations }) => {
    const edited = Object.entries(migrations).filter(([id, hash]) => hashes.migrations[id] !== hash)
    return [
      ...(findRelease(table, version) === null ? ['is locked and has no record'] : []),
      ...(hashes.records[version] === record ? [] : ['its record was edited after the release']),
      ...edited.map(([id]) => `the migration ${id} was edited or deleted after the release`),
    ].map((message): Finding => ({ rule: 'R9', where: version, message }))
  })

/** R11: the generated files match the records. */
export const generatedIsCurrent: Rule = ({ generated }) =>
  generated
    .filter(({ found, expected }) => found !== expected)
    .map(({ path, found }) => ({
      rule: 'R11',
      where: path,
      message: `${found === null ? 'is missing' : 'does not match the records'}: run "npm run gatehouse -- release generate"`,
    }))

/** R12: the chart renders exactly the images that the newest lock names. */
export const imagesAreLocked: Rule = ({ table, locks, chart }) => {
  const newest = table.releases.findLast(({ version }) => locks.some((lock) => lock.version === version))
  const lock = locks.find(({ version }) => version === newest?.version)
  if (lock === undefined || chart.images === null) return []
  const rendered = chart.images
  return [
    ...rendered.filter((image) => !lock.images.includes(image)).map((image) => `the chart renders ${image}, which is not locked`),
    ...lock.images.filter((image) => !rendered.includes(image)).map((image) => `the locked image ${image} is not in the chart`),
  ].map((message): Finding => ({ rule: 'R12', where: lock.version, message }))
}

const remoteReference = /["']?\$ref["']?\s*:\s*["']?[a-z][a-z0-9+.-]*:\/\//i
const address = /\bhttps?:\/\/\w/

/** R13: a chart that fetches no file: no remote `$ref`, and no address but home, sources and icon. */
export const chartIsSelfContained: Rule = ({ chart }) =>
  Object.entries(chart.files).flatMap(([path, text]) =>
    (path === 'Chart.yaml' ? withoutLinks(text) : text).split('\n').flatMap((line, at): readonly Finding[] => {
      const fault = faultOf(line)
      return fault === null ? [] : [{ rule: 'R13', where: path, message: `line ${at + 1}: ${fault}` }]
    }),
  )

function faultOf(line: string): string | null {
  if (remoteReference.test(line)) return 'a remote $ref'
  // `$schema` names a dialect and is not fetched.
  return address.test(line) && !/^\s*"\$schema":/.test(line) ? 'an address' : null
}

/** Chart.yaml with its home, sources and icon blanked, lines kept. */
const withoutLinks = (text: string) =>
  text.replaceAll(/^(?:home|icon|sources):.*(?:\n(?:\s|-).*)*/gm, (found) => found.replaceAll(/[^\n]/g, ''))

/** R15: the build is a release that has a record, which states its floor, level and notes. */
export const buildIsRecorded: Rule = ({ table, code: { version } }) =>
  findRelease(table, version) === null
    ? [{ rule: 'R15', where: version, message: 'package.json names it, and it has no record: run "npm run gatehouse -- release new"' }]
    : []
