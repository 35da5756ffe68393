import { setTimeout as sleep } from 'node:timers/promises'
import { closeServer, watchSilence } from '../http/listener/connections.ts'
import type { DrainOptions, AppState, StartedApp } from './app-state.ts'
import { closeBackground } from './background.ts'

const shortestFlushMs = 200

/**
 * Ends a process so that no request fails: readiness fails and every answer has `connection: close`, so that balancers and clients leave by
 * themselves during `DRAIN_DELAY`; then the port closes, requests under way may finish within `TERMINATION_GRACE`, and all parts are closed in
 * reverse order, the database last.
 */
export async function drainApp(state: AppState, started: Promise<StartedApp>, { now = false }: DrainOptions = {}): Promise<void> {
  const { config, server } = state
  const { base, stopping } = state.background
  const silence = watchSilence(state.connections)
  const deadline = performance.now() + (now ? 0 : config.terminationGraceMs)
  if (!state.draining) {
    state.draining = true
    base.log.info({ delayMs: config.drainDelayMs, graceMs: config.terminationGraceMs, now }, 'draining')
    if (!now) await sleep(config.drainDelayMs)
  }
  stopping.abort()
  state.planes?.leave()
  const closed = closeServer(server, { silence, now })
  const cut = (await state.planes?.gateway?.drain(Math.max(0, deadline - performance.now()))) ?? 0
  if (cut > 0) base.log.warn({ cut }, 'answers were cut off at the end of the grace')
  await Promise.race([closed, sleep(Math.max(shortestFlushMs, deadline - performance.now()))])
  closePorts(state)
  silence.stop()
  state.overload.stop()
  // A start that still runs ends by the abort signal, or opens parts that are then closed here.
  await started.catch(() => null)
  await closeBackground(state.background, () => state.planes?.close())
  base.log.info('drained')
  await state.loggers.flush()
}

/** The port for probes stays open to the last, so that they hear of the drain. */
function closePorts({ server, management, tls }: AppState): void {
  server.closeAllConnections()
  management?.close()
  management?.closeAllConnections()
  tls?.stop()
}
