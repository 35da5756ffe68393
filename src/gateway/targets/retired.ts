import { ApiError } from '../../lib/errors.ts'
import type { Provider } from '../providers/provider.ts'

/** Throws `unsupported_operation` for a provider that has ended its API, unless it has a custom host. */
export function assertServed({ retired }: Provider, how: { readonly id: string; readonly param: string; readonly host: unknown }): void {
  const { id, param, host } = how
  if (retired === undefined || host !== null) return
  throw new ApiError(
    'unsupported_operation',
    `The API of the provider ${id} has ended, so that no service answers there any more. Use the provider ${retired} in its place.`,
    { param },
  )
}
