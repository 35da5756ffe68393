import { ApiError } from '../../lib/errors.ts'
import type { CallerHeaders } from '../wire/headers.ts'

/** Returns whether the caller lets the log keep bodies. */
export function keepsBodies(headers: CallerHeaders | null): boolean {
  const debug = headers?.service.get('debug')
  return debug === undefined || debug === '' || debug.toLowerCase() === 'true'
}

/** Throws `invalid_request` for an unclear `x-service-debug`: a caller who means to keep bodies out of the log must not find them in it. */
export function checkDebug({ service }: CallerHeaders): void {
  const debug = service.get('debug')
  if (debug === undefined || /^(?:true|false)?$/i.test(debug)) return
  throw new ApiError('invalid_request', `x-service-debug must be true or false, not ${JSON.stringify(debug.slice(0, 20))}.`, {
    param: 'x-service-debug',
  })
}
