import { ApiError } from '../../lib/errors.ts'
import type { TargetConfig } from '../config/choose.ts'
import type { GatewaySettings } from '../settings.ts'
import type { Call } from '../call.ts'
import type { CallerHeaders } from '../wire/headers.ts'

/** Returns the longest wait: `x-service-request-timeout` (milliseconds), else the config's, may shorten the installation's, and that of a locked config. */
export function requestTimeout({ service }: CallerHeaders, config: TargetConfig | null, settings: GatewaySettings): number {
  const asked = service.get('request-timeout')
  const configured = config?.requestTimeoutMs ?? Infinity
  if (asked === undefined || asked === '') return Math.min(configured, settings.requestTimeoutMs)
  const ceiling = config?.locked === true ? Math.min(configured, settings.requestTimeoutMs) : settings.requestTimeoutMs
  if (/^[1-9]\d{0,8}$/.test(asked)) return Math.min(Number(asked), ceiling)
  throw new ApiError(
    'invalid_request',
    `x-service-request-timeout must be a whole number of milliseconds from 1 to 999999999, not ${JSON.stringify(asked.slice(0, 20))}.`,
    {
      param: 'x-service-request-timeout',
    },
  )
}

/** Returns the epoch milliseconds at which the time of all attempts of a call is over: its own, else the installation's. */
export const callDeadline = ({ headers, exchange }: Call, settings: GatewaySettings): number =>
  Date.now() + requestTimeout(headers, null, settings) - (performance.now() - exchange.startedAt)
