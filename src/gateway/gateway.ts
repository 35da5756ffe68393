import { ApiError, toApiError } from '../lib/errors.ts'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { createIndexedSet, type IndexedSet } from '../lib/collections/indexed-set.ts'
import type { Exchange } from './exchange/exchange.ts'
import { type InnerAnswer, type InnerRequest, performBy } from './exchange/inner-exchange.ts'
import { createMcp, type Mcp } from './mcp/mcp.ts'
import type { McpPath } from './mcp/client/paths.ts'
import { createSockets, type Sockets } from './sockets/sockets.ts'
import type { Call } from './call.ts'
import { createMirrors } from './mirrors/mirrors.ts'
import { type PipelineDeps, runExchange } from './pipeline.ts'
import type { Journal, Ledger } from './ports.ts'
import type { WaitingExchange } from './attempts/try-target.ts'
import { headerPrefixes } from './wire/headers.ts'

export interface GatewayOptions extends Omit<PipelineDeps, 'prefixes' | 'waiting' | 'mirrors'> {
  /** Returns the key under which tokens of MCP are sealed, the same in every replica. */
  readonly mcpSecret: () => Uint8Array
  /** Called with every exchange that the gateway takes over. */
  readonly taken?: (exchange: Exchange) => void
}

/** The end of a process waits so long for the records of exchanges that are over. */
const longestRecordingMs = 2000

/** The data plane of one process. */
export interface Gateway {
  /** Takes one exchange over: from here on only the gateway writes to its response. Never throws. */
  handle(exchange: Exchange): void
  /**
   * Makes a call from within the process, which is checked, limited, logged and priced as any other. Resolves when its answer begins;
   * rejects with `client_closed` when it ends without one.
   */
  perform(request: InnerRequest): Promise<InnerAnswer>
  readonly sockets: Pick<Sockets, 'connect' | 'open' | 'accepted'>
  /** Takes a request to a server of MCP over. Never throws. */
  handleMcp(exchange: Exchange, path: McpPath): void
  readonly mcp: Pick<Mcp, 'upstream' | 'streams' | 'sessions'>
  /** Exchanges that are not finished. */
  inflight(): number
  /** Resolves when no exchange is running; after `graceMs` those that still wait or stream are cut off. Gives how many were cut. */
  drain(graceMs: number): Promise<number>
}

/** Builds the data plane on its ports. */
export function createGateway(options: GatewayOptions): Gateway {
  const waiting = createIndexedSet<WaitingExchange>()
  const mirrors = createMirrors({
    atOnce: options.settings.mirrorConcurrency,
    run: (exchange, call) => run(exchange, call),
    metrics: options.metrics,
    random: Math.random,
  })
  const deps: PipelineDeps = {
    ...options,
    waiting,
    mirrors,
    prefixes: headerPrefixes(options.settings.headerAliases),
  }
  const depsOf = chooseDeps(deps)
  const running = countRunning()
  const take = (exchange: Exchange): void => {
    running.take(exchange)
    options.taken?.(exchange)
  }
  const run = (exchange: Exchange, made: Call | null, own = depsOf(exchange, made)): void => {
    take(exchange)
    runExchange(own, exchange, made).then(
      () => running.over(),
      (cause: unknown) => {
        deps.report(toApiError(cause), exchange.requestId)
        exchange.destroy()
        running.over()
      },
    )
  }
  const handle = (exchange: Exchange): void => run(exchange, null)
  const mcp = createMcp(deps, options.mcpSecret)
  const handleMcp: Gateway['handleMcp'] = (exchange, path) => {
    take(exchange)
    void mcp.handle(exchange, path).then(() => running.over())
  }
  const perform: Gateway['perform'] = (request) => performBy(handle, request)
  const sockets = createSockets(deps, { perform, run: (exchange, call, egress) => run(exchange, call, { ...deps, egress }) })
  return {
    handle,
    perform,
    sockets,
    handleMcp,
    mcp,
    inflight: () => running.count(),
    async drain(graceMs) {
      mirrors.stop()
      sockets.stop()
      mcp.stop()
      await running.idle(graceMs)
      const left = cutOff(waiting)
      await settleRecords(left > 0, running.recorded)
      await sockets.end()
      await mcp.end()
      return left
    },
  }
}

/** Returns the function that finds the parts for an exchange. */
function chooseDeps(deps: PipelineDeps): (exchange: Exchange, made: Call | null) => PipelineDeps {
  // A copy for a mirror, and a call by the process itself, is no request of a client's; each is counted as its own kind.
  const uncounted: PipelineDeps = { ...deps, metrics: { ...deps.metrics, record() {} } }
  // A request whose log and charge are there already, since a process died before it had written the answer.
  const settled: PipelineDeps = {
    ...uncounted,
    metrics: { ...uncounted.metrics, spent() {} },
    journal: unlogged(deps.journal),
    ledger: uncharged,
  }
  return (exchange, made) => (exchange.line?.isSettled === true ? settled : made === null && exchange.caller === null ? deps : uncounted)
}

const unlogged = (journal: Journal): Journal => ({ ...journal, append() {} })
const uncharged: Ledger = { reserve: () => ({ maxOutput: null, standings: null, settle: () => null }) }

/** Counts the exchanges that run, and those of which no record was made yet; some of them are closed already. */
function countRunning() {
  let [running, unrecorded, draining] = [0, 0, false]
  const [idle, recorded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const done = () => {
    running -= 1
    if (draining && running === 0) idle.resolve()
  }
  return {
    take(exchange: Exchange): void {
      running += 1
      unrecorded += 1
      exchange.onceClosed(done)
    },
    over(): void {
      unrecorded -= 1
      if (draining && unrecorded === 0) recorded.resolve()
    },
    count: () => running,
    /** Resolves when none runs, or the time is up. */
    async idle(graceMs: number): Promise<void> {
      draining = true
      const timer = setTimeout(idle.resolve, graceMs)
      if (running > 0) await idle.promise
      clearTimeout(timer)
    },
    /** Resolves when all have their record; null: they have. */
    recorded: (): Promise<void> | null => (unrecorded > 0 ? recorded.promise : null),
  }
}

/** Waits for the records of exchanges; those that were cut off are recorded in this turn of the loop, or in the turn of a long body. */
async function settleRecords(hasCut: boolean, missing: () => Promise<void> | null): Promise<void> {
  if (hasCut) await setImmediate()
  const recorded = missing()
  if (recorded !== null) await Promise.race([recorded, sleep(longestRecordingMs, undefined, { ref: false })])
}

function cutOff(waiting: IndexedSet<WaitingExchange>): number {
  let left = 0
  for (const exchange of waiting) {
    exchange.cut(new ApiError('draining', 'The gateway is shutting down. Try again: another replica will answer.'))
    left += 1
  }
  return left
}
