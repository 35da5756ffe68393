import { ApiError } from '../../lib/errors.ts'
import { type Operation, operations, type Task } from '../operations/operations.ts'
import { type AskedByPath, isAtGivenHost, lacksPath } from '../providers/endpoint.ts'
import { doersOf, speakersOf } from '../providers/serving.ts'
import type { Target } from './target.ts'

/** Returns true if a target surely has no path for an operation of ours. */
export const cannotBeAsked = (
  { provider, customHost, credential }: Target,
  { dialect, path }: Pick<AskedByPath, 'dialect' | 'path'>,
): boolean => lacksPath(provider, { dialect, path, atOwnHost: customHost !== null || isAtGivenHost(provider, credential.fields) })

/** Throws `unsupported_operation`, which names the operation, the provider, and those that serve it. */
export function refuseOperation(target: Target, operation: Operation): never {
  const { path, dialect } = operations[operation]
  return refuse(target, { path, dialect, able: speakersOf(operation) })
}

/** The same for a task that has a path and is no operation. */
export const refuseTask = (target: Target, path: string, { task, dialect }: AskedForTask): never =>
  refuse(target, { path, dialect, able: doersOf(task) })

interface AskedForTask extends Pick<AskedByPath, 'dialect'> {
  readonly task: Task
}

interface RefusedOperation extends Pick<AskedByPath, 'dialect'> {
  readonly path: string
  readonly able: readonly string[]
}

function refuse({ provider, providerId }: Target, { path, dialect, able }: RefusedOperation): never {
  const elsewhere = lacksPath(provider, { dialect, path, atOwnHost: true }) ? '' : ' A custom host gets every path as it is.'
  throw new ApiError(
    'unsupported_operation',
    `${providerId} does not serve ${path}, and Gatehouse cannot translate such requests to its format. ${whoCan(able)} Or call the provider's own endpoint by its path.${elsewhere}`,
    { param: 'x-service-provider' },
  )
}

const mostNamed = 12

function whoCan(able: readonly string[]): string {
  const more = able.length - mostNamed
  return `These do: ${able.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more (GET /v1/catalogue/providers)` : ''}.`
}
