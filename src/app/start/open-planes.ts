import { knownPaths } from '../level/known-paths.ts'
import { join } from 'node:path'
import { createTokens, type Tokens, type FailedCredentials } from '../../gateway/ports/callers.ts'
import { parseAllowedHosts } from '../../gateway/ports/egress.ts'
import { headerRecord } from '../../gateway/ports/headers.ts'
import { createGateway, type Gateway } from '../../gateway/gateway.ts'
import { openJournal, type OpenJournal, listDirectories } from '../../gateway/ports/journal.ts'
import { openAccessLog } from '../logging/access-log.ts'
import { refusalRecorder, type RecordRefusal } from '../audit/refused-tokens.ts'
import type { Config } from '../../config/config.ts'
import { isOn } from '../../config/effect.ts'
import { servingName } from '../database/serving.ts'
import type { Deps } from '../deps.ts'
import { viewsOf, type Feature } from '../feature.ts'
import { openCallsOf, openFailures } from './open-failures.ts'
import type { OpenDatabase } from './open-database.ts'
import type { FrameServices } from '../http/frame.ts'
import { type OpenLimits, openLimits } from '../limits/open-limits.ts'
import type { Loggers } from '../logging/log.ts'
import { warmPriceLists } from '../prices/warm-lists.ts'
import { packReceiver } from '../journal/open-exporter.ts'
import { recordReads } from '../secret-managers/record-reads.ts'
import { startShipper, type Shipper } from '../journal/shipper.ts'
import { measureJournal } from './measure-journal.ts'
import { watchJournal } from '../journal/watch.ts'
import type { ResponseStore } from '../../gateway/ports/stored-responses.ts'
import { createEmbed, createAnswerCache, type SimilaritySearch } from '../../gateway/ports/cache.ts'
import { openSharedBreakers, type SharedBreakers } from '../breakers/shared-breakers.ts'
import { type Answers, createAnswers } from '../cache/answers.ts'
import { openStoredAnswers } from '../cache/stored-answers.ts'
import type { McpTokens } from '../../gateway/ports/mcp.ts'
import { openManaged, type OpenManaged } from '../managed/open-managed.ts'
import { openStoredResponses } from '../stored-responses/stored-responses.ts'
import { dimensionsOf } from '../cache/dimensions.ts'
import { type OpenVectors, openVectors } from '../cache/vectors.ts'
import { openEventFeed } from '../events/event-feed.ts'
import { createSnapshot, type LiveSnapshot } from '../snapshot/snapshot.ts'

/** The data plane with its three doors, and how to close it in order. */
export interface Planes extends FrameServices {
  readonly gateway: Gateway | null
  /** Ends the answers that would go on for ever. */
  leave(): void
  close(): Promise<void>
}

export interface PlanesOptions {
  readonly deps: Deps
  readonly db: OpenDatabase
  readonly features: readonly Feature[]
  readonly loggers: Loggers
}

/** Opens the snapshot and, in the roles `gateway` and `control`, the journal and the gateway on top. */
export function openPlanes(options: PlanesOptions): Planes {
  const { deps } = options
  const { roles } = deps.config
  const failures = openFailures(deps)
  const { answers, vectors } = openAnswers(options)
  const responses = openResponses(options)
  const breakers = openBreakers(options)
  const snapshot = openSnapshot(options, { failures, answers, vectors, breakers })
  const callers = {
    tokens: openTokens(deps, { snapshot, failures }),
    failures,
    openCalls: openCallsOf(deps),
    recordRefusal: refusalRecorder(deps),
  }
  if (!roles.has('gateway') && !roles.has('control'))
    return {
      deps,
      snapshot,
      ...callers,
      gateway: null,
      journal: null,
      limits: null,
      leave: () => {},
      close: () => closeAll({ snapshot, breakers }),
    }
  const logging = openLogging(options)
  const { journal, directory } = logging
  const limits = openLedger(options)
  const events = roles.has('control') ? openEventFeed({ client: options.db.connection.runtime, log: deps.log }) : null
  if (events !== null) deps.metrics.measure('gateway_event_streams', () => events.listeners())
  const reads = recordReads({ side: options.db.side, log: deps.log, signing: deps.signing })
  // The control plane calls models too: for prompts that are completed by their paths, tests of providers and repeated logs.
  const managed = openManaged({ side: options.db.side, ...deps })
  const gateway = openGateway(options, { snapshot, journal, answers, vectors, breakers, responses, managed, limits, ...callers })
  const runner = managed.run(gateway)
  measureGateway(deps, gateway)
  void warmPriceLists({ client: options.db.connection.runtime, log: deps.log, catalogue: deps.catalogue })
  return {
    deps: Object.freeze({ ...deps, journal, events }),
    snapshot,
    ...callers,
    gateway,
    journal: { directory, fault: () => journal.stats().fault },
    limits,
    leave() {
      events?.end()
      runner.stop()
    },
    async close() {
      await runner.stopped()
      await limits.stop()
      await events?.stop()
      reads.stop()
      await logging.close()
      await closeAll({ snapshot, breakers })
    },
  }
}

function measureGateway({ metrics }: Deps, gateway: Gateway): void {
  metrics.measure('gateway_inflight', () => gateway.inflight(), { kind: 'exchange' })
  metrics.measure('gateway_websockets', () => gateway.sockets.open())
  metrics.measure('gateway_websockets_accepted_total', () => gateway.sockets.accepted())
  metrics.measure('gateway_mcp_streams', () => gateway.mcp.streams())
  metrics.measure('gateway_mcp_sessions', () => gateway.mcp.sessions())
}

async function closeAll({ snapshot, breakers }: Pick<Doors, 'snapshot' | 'breakers'>): Promise<void> {
  breakers.stop()
  await snapshot.stop()
}

const openResponses = ({ deps: { config, vault, log }, db }: PlanesOptions): ResponseStore =>
  openStoredResponses({ side: db.side, seal: vault.logs, log, retentionDays: config.responseRetentionDays })

function openBreakers({ deps: { log, metrics }, db }: PlanesOptions): SharedBreakers {
  const breakers = openSharedBreakers({ side: db.side, log })
  metrics.measure('gateway_breakers_open', () => breakers.open())
  return breakers
}

function openLedger({ deps: { config, level, log, metrics }, db }: PlanesOptions): OpenLimits {
  return openLimits({
    side: db.side,
    log,
    whenUnavailable: config.limitsWhenUnavailable,
    settleWaitMs: config.limitsSettleWaitMs,
    countsUsage: () => isOn('USAGE_LIMITS_ENABLED', config, level),
    measure: (...figure) => metrics.measure(...figure),
  })
}

/** The bound of waiting logs without the role `gateway`. Such a process takes logs only while the database is reachable. */
const spoolWithoutGateway = 32 * 1024 * 1024

function openLogging({ deps, db }: PlanesOptions) {
  const { config, log, vault } = deps
  const directory = join(config.dataDir, 'journal')
  const isGateway = config.roles.has('gateway')
  const shipper = startShipper({
    directory,
    database: db.database,
    client: db.connection.runtime,
    log,
    queuesBodies: config.logStore !== null,
    wordsUnder: config.logSearchIndex && vault.sealed === null ? vault.logKey() : null,
    spans: packReceiver(config),
    sleeps: !isGateway && listDirectories(directory).length === 0,
  })
  const maxSpoolBytes = isGateway ? config.maxSpoolBytes : Math.min(config.maxSpoolBytes, spoolWithoutGateway)
  const journal = openJournal({
    directory,
    hold: (frame, lean) => shipper.hold(frame, lean),
    seal: config.logSealing ? vault.logs : null,
    maxBodyBytes: config.maxLogBodyBytes,
    maxSpoolBytes: Math.floor(maxSpoolBytes / config.workers),
  })
  measureJournal(deps, { journal, shipper })
  const unwatch = watchJournal({ journal, directory, log })
  return {
    directory,
    journal: isGateway ? journal : waking(journal, shipper),
    async close() {
      unwatch()
      await journal.close()
      await shipper.stop()
    },
  }
}

/** The control plane takes logs seldom, and many never do. */
const waking = (journal: OpenJournal, shipper: Shipper): OpenJournal => ({
  ...journal,
  append(record, bodies) {
    shipper.wake()
    journal.append(record, bodies)
  },
})

function openAnswers({ deps: { config, vault, log, metrics }, db }: PlanesOptions): Pick<Doors, 'answers' | 'vectors'> {
  const stored = openStoredAnswers({ side: db.side, seal: vault.logs, log })
  const answers = createAnswers({ stored, memoryBytes: config.answerMemoryBytes, maxBodyBytes: config.maxAnswerBytes })
  metrics.measure('gateway_cached_answers_bytes', () => answers.memoryBytes())
  metrics.measure('gateway_cached_answers_dropped_total', () => stored.dropped())
  const dimensions = config.semantic === null ? null : dimensionsOf(config.semantic)
  const vectors = openVectors({ side: db.side, log, memoryBytes: config.vectorMemoryBytes, dimensions })
  metrics.measure('gateway_cached_vectors_bytes', () => vectors.memoryBytes())
  if (config.semantic !== null) metrics.state('gateway_semantic_index_info', () => [{ place: vectors.place() }])
  return { answers, vectors }
}

function openSnapshot(
  { deps, db, features }: PlanesOptions,
  { failures, answers, vectors, breakers }: Pick<Doors, 'failures' | 'answers' | 'vectors' | 'breakers'>,
): LiveSnapshot {
  return createSnapshot({
    client: db.connection.runtime,
    side: db.side,
    vault: deps.vault,
    log: deps.log,
    sessionName: servingName(deps.config.version),
    spent: (address) => failures.spent(address),
    maxStaleMs: deps.config.cacheMaxStaleMs,
    views: viewsOf(features),
    followers: [answers, vectors, breakers],
  })
}

function openTokens({ config, egress, clock, level }: Deps, { snapshot, failures }: Pick<Doors, 'snapshot' | 'failures'>): Tokens {
  return createTokens({
    snapshot,
    spent: (address) => failures.spent(address),
    egress,
    now: () => clock.now(),
    prefixes: ['service', ...config.headerAliases],
    ownAudience: config.publicUrl,
    explains: () => level.atLeast('1.12.0'),
    reads: () => level.atLeast('1.7.3'),
    chosenKeys: chosenKeys(config),
  })
}

interface Doors {
  readonly snapshot: LiveSnapshot
  readonly journal: OpenJournal
  readonly answers: Answers
  readonly vectors: OpenVectors
  readonly breakers: SharedBreakers
  readonly responses: ResponseStore
  readonly managed: OpenManaged
  readonly tokens: Tokens
  readonly failures: FailedCredentials
  readonly recordRefusal: RecordRefusal
  readonly limits: OpenLimits
}

function openGateway(options: PlanesOptions, doors: Doors): Gateway {
  const { snapshot, journal, answers, vectors, breakers, responses, managed, tokens, failures, recordRefusal, limits } = doors
  const { deps, loggers } = options
  const lines = openAccessLog(loggers)
  const near = openNear(deps, vectors, (request) => gateway.perform(request))
  const gateway: Gateway = createGateway({
    snapshot,
    taken: (exchange) => lines.taken(exchange),
    tokens,
    failures,
    ledger: limits.ledger,
    prices: deps.catalogue.prices,
    routing: breakers.routing,
    journal: lines.journal(journal),
    egress: deps.egress,
    mcpSecret: () => deps.vault.logKey(),
    signing: deps.signing,
    responses,
    managed: managed.managed,
    ...mcpTokensOf(options),
    answers: createAnswerCache({ store: answers, near, now: () => deps.clock.now() }),
    metrics: deps.metrics,
    settings: {
      ...deps.config,
      allowedHosts: deps.config.allowedCustomHosts === null ? null : parseAllowedHosts(deps.config.allowedCustomHosts),
      acts: {
        configs: isFeatureActive('configs', options),
        guardrails: isFeatureActive('guardrails', options),
        policies: isFeatureActive('policies', options),
      },
      atLeast: (release) => deps.level.atLeast(release),
      level: () => deps.level.release,
      chosenKeys: chosenKeys(deps.config),
    },
    async settleBefore(deletion) {
      for (const { settleBefore } of options.features) await settleBefore?.(deps, deletion)
    },
    knownPaths: knownPaths(options.features, deps),
    report: (error, requestId) => deps.log.warn({ err: error, request_id: requestId }, 'exchange failed'),
    refused: (error, { requestId, clientAddress, method, url, headers }) =>
      recordRefusal(error, {
        requestId,
        clientAddress,
        method,
        path: url.split('?', 1)[0] ?? '/',
        // Most refusals are not recorded.
        get headers() {
          return headerRecord(headers)
        },
      }),
  })
  return gateway
}

function mcpTokensOf({ features, deps }: PlanesOptions): { readonly mcpTokens?: McpTokens } {
  const tokens = features.find(({ mcpTokens }) => mcpTokens !== undefined)?.mcpTokens?.(deps)
  return tokens === undefined ? {} : { mcpTokens: tokens }
}

/** Finds similar requests by embeddings that the gateway asks for itself. */
function openNear({ config, metrics }: Deps, vectors: OpenVectors, perform: Gateway['perform']): SimilaritySearch | null {
  const settings = config.semantic
  return settings === null ? null : { vectors, embed: createEmbed({ perform, settings, observe: (outcome) => metrics.embedded(outcome) }) }
}

/** Returns a function that is true while flag and level let a feature act on requests. */
function isFeatureActive(id: string, { features, deps: { config, level } }: PlanesOptions): () => boolean {
  const feature = features.find((one) => one.id === id)
  if (feature === undefined) return () => false
  const { flag, since } = feature
  return () => level.atLeast(since) && (flag === undefined || isOn(flag, config, level))
}

/** Returns the keys that INIT_* settings chose. */
function chosenKeys({ init }: Config): ReadonlySet<string> {
  return new Set([init.adminApiKey, init.workspaceApiKey].flatMap((key) => (key === null ? [] : [key.reveal()])))
}
