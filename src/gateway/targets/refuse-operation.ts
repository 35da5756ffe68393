import { ApiError } from '../../lib/errors.ts'
import { type Operation, operations, type Task } from '../front/operations.ts'
import { type AskedByPath, isAtGivenHost, lacksPath } from '../providers/endpoint.ts'
import { doersOf, speakersOf } from '../providers/serving.ts'
import type { Target } from './target.ts'

/** Returns true if what is asked for by a path of ours surely has no such path at a target. */
export const cannotBeAsked = ({ provider, customHost, credential }: Target, asked: Pick<AskedByPath, 'task' | 'dialect'>): boolean =>
  lacksPath(provider, { ...asked, atOwnHost: customHost !== null || isAtGivenHost(provider, credential.fields) })

/** Throws `unsupported_operation`, which names the operation, the provider, and who serves it. */
export const refuseOperation = (providerId: string, operation: Operation): never =>
  refuse(providerId, operations[operation].path, speakersOf(operation))

/** The same for a task that has a path and is no operation. */
export const refuseTask = (providerId: string, path: string, task: Task): never => refuse(providerId, path, doersOf(task))

function refuse(providerId: string, path: string, able: readonly string[]): never {
  throw new ApiError(
    'unsupported_operation',
    `${providerId} does not serve ${path}, and Gatehouse cannot translate such requests to its format. ${whoCan(able)} Or call the provider's own endpoint by its path.`,
    { param: 'x-service-provider' },
  )
}

const mostNamed = 12

function whoCan(able: readonly string[]): string {
  const more = able.length - mostNamed
  return `These do: ${able.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more (GET /v1/catalogue/providers)` : ''}.`
}
