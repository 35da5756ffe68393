import { workloadOf } from '../../src/app/secret-managers/workload-of.ts'
import { loadConfig } from '../../src/config/index.ts'
import type { SigningMeans } from '../../src/gateway/credentials/signing.ts'
import type { AnswerStore, CachedAnswer } from '../../src/gateway/cache/answer-store.ts'
import { createAnswerCache } from '../../src/gateway/cache/recall.ts'
import type { StoredCredentials } from '../../src/gateway/checks/check.ts'
import { effectiveSettings } from '../../src/lib/access/access-settings.ts'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { compileGuardrail, type GuardrailDefinition } from '../../src/gateway/checks/guardrail.ts'
import { compileConfig } from '../../src/gateway/config/compile.ts'
import { gatewayConfig, type GatewayConfig } from '../../src/gateway/config/config.schema.ts'
import type {
  ConfigView,
  ExchangeBodies,
  ExchangeRecord,
  KeyView,
  Ledger,
  McpServer,
  PriceSource,
  ProviderView,
} from '../../src/gateway/ports.ts'
import { noPrices } from '../../src/gateway/prices/price-source.ts'
import { createEgress } from '../../src/gateway/egress/create-egress.ts'
import type { ResolveName } from '../../src/gateway/egress/names.ts'
import { limitFailedCredentials } from '../../src/gateway/callers/failed-credentials.ts'
import type { Exchange } from '../../src/gateway/exchange/exchange.ts'
import { refusingAnswer, UpgradeExchange } from '../../src/gateway/exchange/upgrade-exchange.ts'
import { NodeExchange } from '../../src/gateway/exchange/node-exchange.ts'
import { createGateway, type Gateway } from '../../src/gateway/gateway.ts'
import type { MirrorOutcome, Observation } from '../../src/gateway/ending/metrics.ts'
import type { Prompt } from '../../src/gateway/prompts/prompt.ts'
import { mcpPathOf } from '../../src/gateway/mcp/client/paths.ts'
import { createRoutingState } from '../../src/gateway/routing/state.ts'
import type { ResponseStore } from '../../src/gateway/stored-responses/response-store.ts'
import type { GatewaySettings } from '../../src/gateway/settings.ts'
import type { ApiError } from '../../src/lib/errors.ts'

export interface Logged {
  readonly record: ExchangeRecord
  readonly bodies: ExchangeBodies
}

/** The data plane alone: real sockets and the real egress, with keys, providers and journal in memory. */
export interface GatewayBed {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  readonly gateway: Gateway
  readonly logged: readonly Logged[]
  readonly observed: readonly Observation[]
  readonly reported: readonly ApiError[]
  readonly mirrored: readonly MirrorOutcome[]
  /** Takes a key away. */
  revoke(secret: string): void
  /** The log of the next exchange to end. */
  nextLog(): Promise<Logged>
  stop(): Promise<void>
}

export interface GatewayBedOptions {
  readonly providers?: Readonly<Record<string, Partial<ProviderView>>>
  readonly keys?: Readonly<Record<string, Partial<KeyView>>>
  /** The models that are enabled by name, by the slug of their provider. */
  readonly enabledModels?: Readonly<Record<string, readonly string[]>>
  /** The provider by slug. */
  readonly configs?: Readonly<Record<string, GatewayConfig>>
  /** The prompt by reference: `id`, `id@label`. */
  readonly prompts?: Readonly<Record<string, Prompt>>
  readonly guardrails?: Readonly<Record<string, Pick<GuardrailDefinition, 'checks' | 'actions'>>>
  /** Stored credentials of partners. */
  readonly plugins?: Readonly<Record<string, StoredCredentials>>
  /** Servers of MCP by slug, in every workspace. */
  readonly mcpServers?: Readonly<Record<string, McpServer>>
  readonly settings?: Partial<GatewaySettings>
  readonly ledger?: Ledger
  readonly responses?: ResponseStore
  readonly signing?: SigningMeans
  /** The price lists; by default they have no model. */
  readonly prices?: Partial<PriceSource>
  readonly taken?: (exchange: Exchange) => void
  readonly trustedHosts?: readonly string[]
  readonly resolve?: ResolveName
}

/** No secret manager, and an unknown workload; it is offered to all organisations unless `env` names others. */
export function testSigning(env: Readonly<Record<string, string>> = {}): SigningMeans {
  const { identity } = loadConfig({ DB_HOST: 'localhost', CLOUD_IDENTITY_ORGANISATIONS: 'all', ...env })
  return {
    secrets: { read: () => Promise.reject(new Error('there is no secret manager')), renew: async () => {} },
    workload: workloadOf(identity, new Set(identity.offeredTo === 'all' ? [] : identity.offeredTo)),
  }
}

export const workspaceKey = 'gh-test-key-of-a-workspace-000000'

const settings: GatewaySettings = {
  headerAliases: ['portkey'],
  requestTimeoutMs: 30_000,
  streamIdleTimeoutMs: 30_000,
  streamOpensAfterMs: 5000,
  maxJsonBytes: 10 * 1024 * 1024,
  maxUploadBytes: 64 * 1024 * 1024,
  acts: { configs: () => true, guardrails: () => true, policies: () => true },
  atLeast: () => true,
  level: () => '99.0.0',
  dedicatedValidation: 'strict',
  chosenKeys: new Set(),
  maxAttempts: 30,
  mirrorConcurrency: 8,
  maxSockets: 100,
  socketIdleMs: 60_000,
  socketMaxMs: 600_000,
  socketPingMs: 20_000,
  mcpRequestBytes: 4 * 1024 * 1024,
  mcpResultBytes: 16 * 1024 * 1024,
  mcpIdleMs: 10_000,
  mcpTotalMs: 30_000,
  mcpSessions: 1000,
  mcpSessionIdleMs: 60_000,
  mcpSubscriptions: 10,
  corsOrigins: [],
  publicUrl: null,
  semantic: null,
  allowedHosts: null,
}

/** The key of every test that names no other. */
export const keyView: KeyView = {
  id: randomUUID(),
  type: 'workspace-service',
  name: 'test',
  organisationId: randomUUID(),
  workspaceId: randomUUID(),
  workspaceSlug: 'ws-test',
  userId: null,
  role: null,
  settings: effectiveSettings({}, {}),
  allowedHosts: null,
  scopes: new Set(['completions.write']),
  expiresAt: null,
  status: 'active',
  metadata: {},
  defaults: null,
  limits: null,
}

function toProvider(slug: string, given: Partial<ProviderView>): ProviderView {
  return {
    id: randomUUID(),
    slug,
    organisationId: keyView.organisationId,
    workspaceId: keyView.workspaceId ?? '',
    integrationId: randomUUID(),
    provider: 'openai',
    credential: { key: `sk-stored-${slug}`, fields: {} },
    secrets: null,
    customHost: null,
    customHeaders: {},
    status: 'active',
    expiresAt: null,
    allowed: true,
    models: null,
    prices: null,
    limits: null,
    ...given,
  }
}

const toConfig = (slug: string, given: GatewayConfig): ConfigView => ({
  id: randomUUID(),
  slug,
  version: 1,
  active: compileConfig(gatewayConfig.parse(given), slug),
})

/** Answers in memory, without bounds and without a database. */
function answerMemory(): AnswerStore {
  const held = new Map<string, CachedAnswer>()
  return {
    maxBodyBytes: 64 * 1024,
    get: (answerKey) => held.get(answerKey) ?? null,
    put: (answerKey, _, { answer }) => void held.set(answerKey, answer),
    purgedSince: () => false,
  }
}

/** Starts a data plane on a free port. */
export async function startGateway(options: GatewayBedOptions = {}): Promise<GatewayBed> {
  const logged: Logged[] = []
  const observed: Observation[] = []
  const reported: ApiError[] = []
  const mirrored: MirrorOutcome[] = []
  const waiting: ((entry: Logged) => void)[] = []
  const keys = new Map(Object.entries({ [workspaceKey]: {}, ...options.keys }).map(([secret, given]) => [secret, { ...keyView, ...given }]))
  const providers = new Map(Object.entries(options.providers ?? {}).map(([slug, given]) => [slug, toProvider(slug, given)]))
  const configs = new Map(Object.entries(options.configs ?? {}).map(([slug, given]) => [slug, toConfig(slug, given)]))
  const guardrails = new Map(
    Object.entries(options.guardrails ?? {}).map(([id, given]) => [id, compileGuardrail({ id, name: id, ...given })]),
  )
  const egress = createEgress({
    trustedHosts: options.trustedHosts ?? ['127.0.0.1'],
    connectTimeoutMs: 2000,
    ...(options.resolve === undefined ? {} : { resolve: options.resolve }),
  })
  const gateway = createGateway({
    ...(options.taken === undefined ? {} : { taken: options.taken }),
    snapshot: {
      key: (secret) => keys.get(secret) ?? null,
      keyById: (id) => [...keys.values()].find((key) => key.id === id) ?? null,
      provider: (_, slug) => providers.get(slug) ?? null,
      providers: () => [...providers.keys()].map((slug) => ({ slug, models: options.enabledModels?.[slug] ?? [] })),
      config: (_, slug) => configs.get(slug) ?? null,
      prompt: (_, reference) => options.prompts?.[reference] ?? null,
      policies: () => null,
      mcpSignIn: () => null,
      mcpGrant: () => null,
      mcpServer: (_, slug) => options.mcpServers?.[slug] ?? null,
      guardrail: (_, slug) => guardrails.get(slug) ?? null,
      pluginCredentials: (_, plugin) => options.plugins?.[plugin] ?? null,
    },
    failures: limitFailedCredentials({ perMinute: 0, networkOf: (address) => address, now: () => performance.now() }),
    ledger: options.ledger ?? { reserve: () => ({ maxOutput: null, standings: null, settle: () => null }) },
    routing: createRoutingState(),
    prices: { ...noPrices, facts: (provider, model) => options.prices?.find?.(provider, model)?.entry ?? null, ...options.prices },
    journal: {
      maxBodyBytes: 64 * 1024,
      append(record, bodies) {
        const entry = { record, bodies }
        logged.push(entry)
        waiting.shift()?.(entry)
      },
    },
    egress,
    mcpSecret: () => Buffer.alloc(32, 7),
    signing: options.signing ?? testSigning(),
    responses: options.responses ?? { keeps: false, get: async () => null, put: async () => {}, remove: async () => false },
    answers: createAnswerCache({ store: answerMemory(), near: null, now: Date.now }),
    metrics: {
      record: (observation) => void observed.push(observation),
      contradicted() {},
      attemptFailed() {},
      spent() {},
      mirrored: (outcome) => void mirrored.push(outcome),
      authFailure() {},
      checkRan() {},
      embedded() {},
    },
    settings: { ...settings, ...options.settings },
    report: (error) => void reported.push(error),
  })
  const server = createServer({ noDelay: true }, (req, res) => {
    const exchange = new NodeExchange(req, res, { clientAddress: () => '127.0.0.1', edgeHeaders: () => [] })
    const mcpPath = mcpPathOf(req.url ?? '/')
    if (mcpPath === null) gateway.handle(exchange)
    else gateway.handleMcp(exchange, mcpPath)
  })
  server.on('upgrade', (req, socket, head) => {
    socket.on('error', () => socket.destroy())
    const upgrade = { req, socket, head }
    gateway.sockets.connect(
      new UpgradeExchange(upgrade, refusingAnswer(upgrade), { clientAddress: () => '127.0.0.1', edgeHeaders: () => [] }),
      () => {},
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    gateway,
    logged,
    observed,
    reported,
    mirrored,
    revoke: (secret) => void keys.delete(secret),
    nextLog: () => new Promise((resolve) => waiting.push(resolve)),
    async stop() {
      await gateway.drain(0)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await egress.close()
    },
  }
}
