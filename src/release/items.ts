import type { Finding, Project } from './project.ts'
import type { ReleaseRecord } from './record.ts'

/** One thing that a record promises, and whether the code has it. */
export interface Item {
  readonly version: string
  readonly rule: Finding['rule']
  readonly kind: 'feature' | 'change' | 'setting' | 'operation' | 'preflight check'
  readonly name: string
  readonly implemented: boolean
}

/** Everything that a release promises and that code can prove. */
export function itemsOf({ version, features, env, api, breaking }: ReleaseRecord, { code }: Project): readonly Item[] {
  const settings = new Set(code.settings.map(({ name }) => name))
  const operations = new Set(api.added.length > 0 ? code.operations(version) : [])
  const own = (id: string) => code.features.find((feature) => feature.id === id)
  const item = (kind: Item['kind'], rule: Item['rule'], implemented: (name: string) => boolean) => (name: string) => ({
    version,
    rule,
    kind,
    name,
    implemented: implemented(name),
  })
  return [
    ...features.added.map(item('feature', 'R6', (id) => own(id)?.since === version)),
    ...features.changed.map(item('change', 'R6', (id) => own(id)?.changes?.includes(version) ?? false)),
    ...env.added.map(item('setting', 'R7', (name) => settings.has(name))),
    ...breaking.map(({ check }) => check).map(item('preflight check', 'R10', (check) => code.preflightChecks.includes(check))),
    ...api.added.map(item('operation', 'R14', (operation) => operations.has(operation))),
  ]
}

/** What all records promise, oldest release first. */
export const allItems = (project: Project): readonly Item[] => project.table.releases.flatMap((release) => itemsOf(release, project))
