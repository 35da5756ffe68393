import type { Finding, Project, Rule } from '../../../src/release/project.ts'
import { allItems, type Item } from '../../../src/release/items.ts'
import type { ReleaseRecord } from '../../../src/release/record.ts'
import { findRelease, releaseWith } from '../../../src/release/table.ts'
import { compareVersions } from '../../../src/release/version.ts'

type Changes = (release: ReleaseRecord) => ReleaseRecord['features']

/** R6: a module comes with the one release whose record adds it, and has no change that no record names. */
export const featuresMatch: Rule = (project) => [
  ...consistent(project, 'R6', ({ features }) => features),
  ...project.code.features.flatMap((module) =>
    moduleFaults(module, project).map((message): Finding => ({ rule: 'R6', where: module.since, message })),
  ),
  ...pending(project, 'R6'),
]

function moduleFaults({ id, since, changes = [] }: Project['code']['features'][number], { table }: Project): readonly string[] {
  const recorded = releaseWith(table, id)?.version
  const unrecorded = changes.filter((version) => !findRelease(table, version)?.features.changed.includes(id))
  return [
    ...(recorded === undefined ? [`the module ${id} has no record`] : []),
    ...(recorded !== undefined && recorded !== since ? [`the module ${id} says since ${since}, the records say ${recorded}`] : []),
    ...unrecorded.map((version) => `the module ${id} claims a change of ${version} that has no record`),
  ]
}

/** R7: a setting comes with the one release whose record adds it, and the chart can pass on each. */
export const settingsMatch: Rule = (project) => [
  ...consistent(project, 'R7', ({ env }) => env),
  ...project.code.settings.flatMap(({ name, since }): readonly Finding[] => {
    const recorded = project.table.releases.find(({ env }) => env.added.includes(name))?.version
    if (recorded === since) return []
    const said = recorded === undefined ? 'no record adds it' : `the records say ${recorded}`
    return [{ rule: 'R7', where: since, message: `the setting ${name} says since ${since}, ${said}` }]
  }),
  ...chartPassesOn(project),
  ...pending(project, 'R7'),
]

/** The newest chart has the settings of the release that it was cut for; those of later ones come with the next chart. */
function chartPassesOn({ table, code, chart }: Project): readonly Finding[] {
  const cutFor = table.charts.at(-1)?.appVersion
  if (chart.settings === null || cutFor === undefined) return []
  const settings = code.settings.filter(({ since }) => compareVersions(since, cutFor) <= 0)
  const [known, passed] = [new Set(settings.map(({ name }) => name)), new Set(chart.settings)]
  return [
    ...[...known].filter((name) => !passed.has(name)).map((name) => `has no place for the setting ${name}`),
    ...[...passed].filter((name) => !known.has(name)).map((name) => `passes on ${name}, which is no setting`),
  ].map((message): Finding => ({ rule: 'R7', where: 'charts/app', message }))
}

/** R10: a preflight check finds each breaking change, whether or not all of its release is there. */
export const breakingHasCheck: Rule = (project) => [
  ...project.table.releases
    .filter(({ kind, breaking }) => breaking.length > 0 && (kind === 'patch' || kind === 'security'))
    .map(({ version, kind }): Finding => ({ rule: 'R10', where: version, message: `a ${kind} release breaks nothing` })),
  ...allItems(project)
    .filter(({ rule, implemented }) => rule === 'R10' && !implemented)
    .map(({ version, name }): Finding => ({ rule: 'R10', where: version, message: `there is no preflight check ${name}` })),
]

/** R14: the operations that a level serves beyond the former level are those that its record adds. */
export const apiMatches: Rule = (project) => [
  ...consistent(project, 'R14', ({ api }) => api),
  ...project.table.releases.flatMap(({ version, api }) =>
    Object.entries(api.owners)
      .filter(([, owner]) => releaseWith(project.table, owner) === null)
      .map(([operation, owner]): Finding => ({
        rule: 'R14',
        where: version,
        message: `${operation} is of ${owner}, which no record adds`,
      })),
  ),
  ...project.table.releases.flatMap(({ version, api }, at) => {
    const former = project.table.releases[at - 1]
    const before = new Set(former === undefined ? [] : project.code.operations(former.version))
    const now = new Set(project.code.operations(version))
    return [
      ...[...now]
        .filter((operation) => !before.has(operation) && !api.added.includes(operation))
        .map((operation) => `serves ${operation}, which its record does not add`),
      ...[...before]
        .filter((operation) => !now.has(operation) && !api.removed.includes(operation))
        .map((operation) => `lost ${operation}, which its record does not remove`),
      ...api.removed.filter((operation) => now.has(operation)).map((operation) => `still serves ${operation}, which its record removes`),
      ...api.added
        .filter((operation) => before.has(operation))
        .map((operation) => `adds ${operation}, which ${former?.version} serves already`),
    ].map((message): Finding => ({ rule: 'R14', where: version, message }))
  }),
  ...pending(project, 'R14'),
]

/** Each name is added once, and changed or removed only by releases after the one that adds it. */
function consistent({ table }: Project, rule: Finding['rule'], of: Changes): readonly Finding[] {
  const known = new Set<string>()
  return table.releases.flatMap((release) => {
    const { added, changed, removed } = of(release)
    const faults = [
      ...added.filter((name, at) => known.has(name) || added.indexOf(name) !== at).map((name) => `adds ${name} again`),
      ...[...changed, ...removed]
        .filter((name) => !known.has(name))
        .map((name) => `changes or removes ${name}, which no earlier release adds`),
    ]
    for (const name of added) known.add(name)
    for (const name of removed) known.delete(name)
    return faults.map((message): Finding => ({ rule, where: release.version, message }))
  })
}

const pending = (project: Project, rule: Finding['rule']): readonly Finding[] =>
  allItems(project)
    .filter((item) => item.rule === rule && !item.implemented)
    .map((item) => ({ rule, where: item.version, message: describe(item), pending: true }))

const describe = ({ kind, name }: Item) => `the ${kind} ${name} is pending`
