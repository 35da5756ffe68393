import type { GatewayConfig } from '../../gateway/ports/configs.ts'
import { ApiError } from '../../lib/errors.ts'

/** Refuses a config that tries more targets one after the other than a request makes attempts. AB01 names the field. */
export function refuseManyTargets(config: GatewayConfig, most: number): void {
  const tried = firstTries(config)
  if (tried <= most) return
  const message = `The config has ${tried} targets to try one after the other, and a request makes at most ${most} attempts (MAX_ATTEMPTS_PER_REQUEST).`
  throw new ApiError('AB01', message, { param: 'config.targets' })
}

/** The most targets that one request may try. */
function firstTries({ strategy, targets }: GatewayConfig): number {
  if (targets === undefined) return 1
  const tries = targets.map(firstTries)
  return strategy?.mode === 'fallback' ? tries.reduce((sum, one) => sum + one, 0) : Math.max(...tries)
}
