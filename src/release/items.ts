import type { Code, Finding, Project } from './project.ts'
import type { ReleaseRecord } from './record.ts'

/** One thing that a record promises, and whether the code has it. */
export interface Item {
  readonly version: string
  readonly rule: Finding['rule']
  readonly kind: 'feature' | 'change' | 'setting' | 'field' | 'operation' | 'preflight check'
  readonly name: string
  readonly implemented: boolean
}

/** Returns the fields that a record names of its features, one operation each. */
export const fieldsOf = ({ fields }: Pick<ReleaseRecord, 'fields'>) =>
  Object.entries(fields).flatMap(([feature, places]) =>
    Object.entries(places).flatMap(([at, operations]) => operations.map((operation) => ({ feature, at, operation }))),
  )

/** Returns true if the code claims a feature, or its change by a release, complete or not. */
export function isClaimed({ version, features }: ReleaseRecord, id: string, code: Pick<Code, 'features'>): boolean {
  const own = code.features.find((feature) => feature.id === id)
  return features.added.includes(id) ? own?.since === version : (own?.changes?.includes(version) ?? false)
}

/** Returns true if the build has the feature, change or setting that a record names by one of its words. */
export function isBuilt(release: ReleaseRecord, name: string, code: Pick<Code, 'features' | 'settings'>): boolean {
  const { env } = release
  if (env.added.includes(name)) return code.settings.some((setting) => setting.name === name)
  const own = code.features.find((feature) => feature.id === name)
  return isClaimed(release, name, code) && own?.incomplete === undefined
}

/** Everything that a release promises and that code can prove. */
export function itemsOf(release: ReleaseRecord, { code }: Pick<Project, 'code'>): readonly Item[] {
  const { version, features, env, api, breaking } = release
  const operations = new Set(api.added.length > 0 ? code.operations(version) : [])
  const marked = new Set(code.fields.filter(({ since }) => since === version).map(({ at, operation }) => `${operation} ${at}`))
  const built = (name: string) => isBuilt(release, name, code)
  const item = (kind: Item['kind'], rule: Item['rule'], implemented: (name: string) => boolean) => (name: string) => ({
    version,
    rule,
    kind,
    name,
    implemented: implemented(name),
  })
  return [
    ...features.added.map(item('feature', 'R6', built)),
    ...features.changed.map(item('change', 'R6', built)),
    ...env.added.map(item('setting', 'R7', built)),
    ...fieldsOf(release).map(({ operation, at }) => item('field', 'R16', (name) => marked.has(name))(`${operation} ${at}`)),
    ...breaking.map(({ check }) => check).map(item('preflight check', 'R10', (check) => code.preflightChecks.includes(check))),
    ...api.added.map(item('operation', 'R14', (operation) => operations.has(operation))),
  ]
}

/** Returns the promises of all records, oldest release first. */
export const allItems = (project: Project): readonly Item[] => project.table.releases.flatMap((release) => itemsOf(release, project))
