import type { AimedCall, Call } from '../call.ts'
import type { CheckedCall } from '../checks/before.ts'
import type { MirrorRule } from '../config/compile.ts'
import type { GatewayMetrics, MirrorOutcome } from '../ending/metrics.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { performBy } from '../exchange/inner-exchange.ts'
import { copyCall } from './copy-call.ts'

/** The mirrors of a process: they take copies of requests, and only log the answers. */
export interface Mirrors {
  /** Copies a call that is about to be sent, if its config has a mirror. Returns at once; a copy never affects the caller. */
  copy(checked: CheckedCall): void
  /** Stops copying. */
  stop(): void
}

export interface MirrorsOptions {
  /** The most copies that are under way at a time; one organisation has a quarter of them. */
  readonly atOnce: number
  /** Runs a call as its own exchange. */
  readonly run: (exchange: Exchange, call: Call) => void
  readonly metrics: Pick<GatewayMetrics, 'mirrored'>
  /** Returns a number in [0, 1). */
  readonly random: () => number
}

/** A copy holds its body until it has its answer, after the caller may be gone. */
const mostBytes = 1024 * 1024

/** Makes the mirrors of a process. */
export function createMirrors({ atOnce, run, metrics, random }: MirrorsOptions): Mirrors {
  const most = Math.ceil(atOnce / 4)
  const underWay = new Map<string, number>()
  const copied = new WeakSet<Exchange>()
  let all = 0
  let stopped = false

  const count = (organisationId: string, by: 1 | -1) => {
    all += by
    const own = (underWay.get(organisationId) ?? 0) + by
    if (own === 0) underWay.delete(organisationId)
    else underWay.set(organisationId, own)
  }
  const send = async (checked: CheckedCall, rule: MirrorRule): Promise<void> => {
    const { method, url, clientAddress } = checked.aimed.call.exchange
    try {
      const perform = (exchange: Exchange) => run(exchange, copyCall(checked, rule, exchange))
      const { status, body } = await performBy(perform, { method, url, headers: [], clientAddress })
      for await (const chunk of body) void chunk
      metrics.mirrored(status < 400 ? 'answered' : 'failed')
    } catch {
      // Its log row has the reason.
      metrics.mirrored('failed')
    }
  }
  const obstacleTo = ({ call, body }: AimedCall): MirrorOutcome | null => {
    if (body.stream !== null || (body.bytes?.length ?? 0) > mostBytes) return 'too_large'
    if (stopped) return 'draining'
    return all >= atOnce || (underWay.get(call.caller.key.organisationId) ?? 0) >= most ? 'busy' : null
  }
  return {
    copy(checked) {
      const { call } = checked.aimed
      const rule = call.config?.mirror ?? null
      if (rule === null || call.operation.spec?.leavesNothing !== true || copied.has(call.exchange)) return
      copied.add(call.exchange)
      if (random() >= rule.share) return
      const obstacle = obstacleTo(checked.aimed)
      if (obstacle !== null) return metrics.mirrored(obstacle)
      const { organisationId } = call.caller.key
      count(organisationId, 1)
      setImmediate(() => void send(checked, rule).finally(() => count(organisationId, -1)))
    },
    stop() {
      stopped = true
    },
  }
}
