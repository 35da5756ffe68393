import { setTimeout as sleep } from 'node:timers/promises'
import { closeOrm } from '../database/orm.ts'
import { closeServer, watchSilence } from '../http/listener/connections.ts'
import type { DrainOptions, Parts, Started } from './app-state.ts'

const shortestFlushMs = 200
const jobGraceMs = 5_000

/**
 * Ends a process so that no request fails: readiness fails and every answer says `connection: close`, so that balancers and
 * clients leave by themselves during `DRAIN_DELAY`; then the port closes, what runs may finish within `TERMINATION_GRACE`, and
 * what was opened is closed in the other direction, the database last.
 */
export async function drainApp(parts: Parts, started: Promise<Started>, { now = false }: DrainOptions = {}): Promise<void> {
  const { config, server, base, stopping } = parts
  const silence = watchSilence(parts.connections)
  const deadline = performance.now() + (now ? 0 : config.terminationGraceMs)
  if (!parts.draining) {
    parts.draining = true
    base.log.info({ delayMs: config.drainDelayMs, graceMs: config.terminationGraceMs, now }, 'draining')
    if (!now) await sleep(config.drainDelayMs)
  }
  stopping.abort()
  const closed = closeServer(server, { silence, now })
  const cut = (await parts.planes?.gateway?.drain(Math.max(0, deadline - performance.now()))) ?? 0
  if (cut > 0) base.log.warn({ cut }, 'answers were cut off at the end of the grace')
  await Promise.race([closed, sleep(Math.max(shortestFlushMs, deadline - performance.now()))])
  closePorts(parts)
  silence.stop()
  parts.overload.stop()
  await closeParts(parts, started)
  base.log.info('drained')
  await parts.loggers.flush()
}

/** The port for probes stays open to the last, so that they hear of the drain. */
function closePorts({ server, management, tls }: Parts): void {
  server.closeAllConnections()
  management?.close()
  management?.closeAllConnections()
  tls?.stop()
}

/** Each step is tried, whatever became of the one before. */
async function closeParts(parts: Parts, started: Promise<Started>): Promise<void> {
  // A start that still runs ends by the abort signal, or opens what is then closed here.
  await started.catch(() => null)
  const steps: readonly (readonly [string, () => Promise<unknown> | undefined])[] = [
    ['level and backfills', () => Promise.race([parts.following, sleep(jobGraceMs, undefined, { ref: false })])],
    ['jobs', () => parts.jobs?.stop(jobGraceMs)],
    ['journal and snapshot', () => parts.planes?.close()],
    ['egress', () => parts.base.egress.close()],
    ['database pool', () => (parts.foundation === null ? undefined : closeOrm(parts.foundation.orm))],
    ['embedded database', () => parts.embedded?.stop()],
  ]
  for (const [name, close] of steps) {
    try {
      await close()
    } catch (error) {
      parts.base.log.error({ err: error }, `closing failed: ${name}`)
    }
  }
}
