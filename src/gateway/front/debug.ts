import { ApiError } from '../../lib/errors.ts'
import type { CallerHeaders } from '../wire/headers.ts'

/** Returns whether the caller lets the log keep bodies. */
export function keepsBodies(headers: CallerHeaders | null): boolean {
  const debug = headers?.service.get('debug')
  return debug === undefined || debug === '' || debug.toLowerCase() === 'true'
}

/** An answer is searched for the values of so many headers. */
const mostSensitive = 32

/** Throws `invalid_request` for headers about the log that are unclear, or ask for too much: a caller must not find a text in the log that it means to keep out. */
export function checkLogHeaders({ service }: CallerHeaders): void {
  const [debug, sensitive] = [service.get('debug'), service.get('sensitive-headers')]
  if (debug !== undefined && !/^(?:true|false)?$/i.test(debug))
    throw new ApiError('invalid_request', `x-service-debug must be true or false, not ${JSON.stringify(debug.slice(0, 20))}.`, {
      param: 'x-service-debug',
    })
  if (sensitive !== undefined && sensitive.split(',').length > mostSensitive)
    throw new ApiError('invalid_request', `x-service-sensitive-headers may name ${mostSensitive} headers.`, {
      param: 'x-service-sensitive-headers',
    })
}
