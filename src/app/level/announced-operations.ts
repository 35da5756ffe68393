import { modelOperations, operations } from '../../gateway/ports/operations.ts'
import { ownerOf, type ReleaseTable } from '../../release/table.ts'
import type { Feature } from '../feature.ts'
import { formatOperations } from '../openapi/format-paths.ts'
import { levelAdvice, type MountOptions, type Unavailable } from './mount.ts'

/** An operation that a release record announces and no module implements yet. */
export interface PendingOperation {
  readonly method: string
  /** Koa style, below `/v1`. */
  readonly path: string
  readonly unavailable: Unavailable
}

/** Names of parameters do not distinguish paths. */
const shape = (operation: string) => operation.replaceAll(/\{\w+\}|:\w+/g, '{}')

/** Returns the operations that the records announce and neither plane has. */
export function pendingOperations(table: ReleaseTable, features: readonly Feature[], options: MountOptions): readonly PendingOperation[] {
  const own = new Set([
    ...features.flatMap(({ routes }) => routes.map(({ method, path }) => shape(`${method} ${path}`))),
    ...Object.values({ ...operations, ...modelOperations }).map(({ method, path }) => shape(`${method} ${path}`)),
    ...formatOperations.map(({ method, path }) => shape(`${method.toUpperCase()} ${path}`)),
  ])
  return table.releases.flatMap(({ version, api }) =>
    api.added
      .filter((operation) => !own.has(shape(operation)) && !operation.endsWith(' /{provider_endpoint}'))
      .map((operation) => {
        const [method = '', path = ''] = operation.split(' ')
        const unavailable = { feature: ownerOf(table, operation), flag: null, release: version, message: say(operation, version, options) }
        return { method, path: path.replaceAll(/\{(\w+)\}/g, ':$1'), unavailable }
      }),
  )
}

function say(operation: string, release: string, { config, level }: MountOptions): string {
  return level.atLeast(release)
    ? `${operation} is announced for release ${release}, and this build does not implement it yet.`
    : `${operation} comes with release ${release}. ${levelAdvice(release, config, level)}`
}
