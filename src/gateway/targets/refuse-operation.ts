import { ApiError } from '../../lib/errors.ts'
import { type Operation, operations } from '../front/operations.ts'
import { speakersOf } from '../providers/serving.ts'

/** Throws `unsupported_operation`, which names the operation, the provider, and who serves it. */
export function refuseOperation(providerId: string, operation: Operation): never {
  throw new ApiError(
    'unsupported_operation',
    `${providerId} does not serve ${operations[operation].path}, and Gatehouse cannot translate such requests to its format. ${whoCan(speakersOf(operation))} Or call the provider's own endpoint by its path.`,
    { param: 'x-service-provider' },
  )
}

const mostNamed = 12

function whoCan(able: readonly string[]): string {
  const more = able.length - mostNamed
  return `These do: ${able.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more (GET /v1/catalogue/providers)` : ''}.`
}
