import type { EntityManager } from '@mikro-orm/postgresql'
import { asSystem } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import { allowedHostsOf } from '../../app/snapshot/allowed-hosts.ts'
import {
  askBatch,
  type AskedProvider,
  eachAnswer,
  type FileBounds,
  type ToldBatch,
  type BatchCost,
  type BatchPricing,
  sumBatch,
  videoCost,
} from '../../gateway/ports/batches.ts'
import type { LoggedCharge } from '../../gateway/ports.ts'
import type { IntegrationPrices } from '../../gateway/ports/prices.ts'
import { ApiError } from '../../lib/errors.ts'
import { timeOfUuid } from '../../lib/uuid.ts'
import { loadCredential, type SealedCredential, storedTarget } from '../integrations/index.ts'
import { mappedSecretsColumn, type SealedMapping } from '../secret-references/index.ts'
import { readTerms, type StoredTerms, storedTerms, termsColumns, toleranceMs } from '../providers/index.ts'
import { jobsOf } from './job-cost.ts'
import { type CostRow, lockCosts, readCost, settler, writeAdjustments } from './recompute.ts'
import { reprice, type RepriceOptions } from './reprice.ts'

/** A batch that waits for its cost. */
export interface BatchRow {
  readonly id: string
  /** The log of the request that began it; null: the id, as of the job of the last attempt. */
  readonly log_id: string | null
  /** The attempt that began it; null: the last. */
  readonly attempt: number | null
  readonly organisation_id: string
  readonly workspace_id: string | null
  readonly provider: string
  readonly provider_slug: string
  readonly batch_id: string
  /** The stored provider and the host that took it; null: the former release noted no more than the slug. */
  readonly provider_id: string | null
  readonly host: string | null
  /** Epoch milliseconds. */
  readonly begun_ms: number
}

/** The age at which a batch that has not ended, or cannot be priced, is given up: providers forget batches after some time. */
export const lostAfterDays = 10
const dayMs = 24 * 60 * 60 * 1000

/** The columns of such a row of `provider_batches b`. */
export const waitingColumns = `b.id, b.organisation_id, b.workspace_id, b.provider, b.provider_slug, b.batch_id, b.provider_id, b.host, b.log_id, b.attempt,
            (extract(epoch FROM b.begun_at) * 1000)::float8 AS begun_ms`

/** Looks at a batch; if it has ended, its cost is written, once. Returns whether it has. Rejects with an ApiError when that cannot be done now. */
export async function settleBatch(deps: Deps, row: BatchRow, bounds: FileBounds): Promise<boolean> {
  const source = await findSource(deps, row)
  const told = await askBatch(source, row.batch_id)
  const isLate = Date.now() - row.begun_ms >= lostAfterDays * dayMs
  if (!told.ended) {
    if (!isLate) return false
    throw new ApiError('upstream_timeout', `The provider has not ended it within ${lostAfterDays} days.`)
  }
  await deps.catalogue.ready('pricing', row.provider)
  const findTerms = await asSystem(deps.orm, (em) => readTerms(em, row.organisation_id))
  const termsOf = ({ slug }: Pick<LoggedCharge, 'slug'>) =>
    findTerms({ workspaceId: row.workspace_id, slug: slug ?? '', at: begunMsOf(row) })
  const mode = told.kind === 'batch' ? ('batch' as const) : null
  const pricing = {
    mode,
    target: source.target,
    terms: source.terms,
    prices: deps.catalogue.prices,
    endpoint: told.endpoint,
    begunAt: row.begun_ms,
  }
  const cost = await costOf(source, told, { pricing, bounds })
  if (cost.state === 'unpriced' || (cost.lacksPrices && !isLate))
    throw new ApiError('invalid_request', 'No price is known for the models of its answers, or they have no usage.')
  const reason = reasonOf(row.batch_id, told, cost.answers)
  await asSystem(deps.orm, (em) => writeCost(em, row, { cost, reason, prices: deps.catalogue.prices, termsOf }))
  return true
}

const nouns: Readonly<Record<ToldBatch['kind'], string>> = { batch: 'Batch', video: 'Video', response: 'Response' }

function reasonOf(id: string, { kind, status }: ToldBatch, answers: number): string {
  const named = `${nouns[kind]} ${id.split('?', 1)[0]}: ${status}`
  return kind === 'batch' ? `${named}, ${answers} answers.` : `${named}.`
}

interface Pricing {
  readonly pricing: BatchPricing
  readonly bounds: FileBounds
}

async function costOf(
  source: AskedProvider,
  { answers, succeeded, video, response }: ToldBatch,
  { pricing, bounds }: Pricing,
): Promise<BatchCost> {
  if (video !== null) return videoCost(video, pricing)
  const sum = sumBatch(pricing)
  if (response !== null) sum.add({ response: { body: response } })
  if (answers !== null) await eachAnswer(source, { path: answers, bounds }, (answer) => sum.add(answer))
  // A provider that names a place of answers without counting them has one at least.
  if (sum.succeeded() < (succeeded ?? (answers === null ? 0 : 1)))
    throw new ApiError('upstream_bad_response', 'The answers of the batch are fewer than the count of its provider.')
  return sum.cost()
}

interface ProviderRow extends StoredTerms {
  readonly id: string
  readonly integration: string
  readonly credential: Buffer | null
  readonly configurations: Readonly<Record<string, unknown>>
  readonly secret: Buffer | null
  readonly mapped: readonly SealedMapping[] | null
  readonly home: string
  /** The host of its own that the model of the request has; null: that of the integration. */
  readonly model_host: string | null
  /** The hosts of their own that models have. */
  readonly model_hosts: readonly string[]
  readonly settings: unknown
}

/** The provider that took a batch, with the terms of its integration. */
interface BatchSource extends AskedProvider {
  readonly terms: IntegrationPrices | null
}

const begunMsOf = ({ id, begun_ms: noted }: BatchRow): number => timeOfUuid(id) ?? noted

/**
 * Returns the target of the batch: the provider by its id, or else the one that had the slug when it began, at the host that was asked. One that was
 * archived since is asked too: the batch runs, and is charged. Another one that has the slug now is not asked: its answers are about other batches.
 */
async function findSource({ orm, vault, egress, signing }: Deps, row: BatchRow): Promise<BatchSource> {
  const { organisation_id: organisationId, workspace_id: workspaceId, provider_slug: slug } = row
  const begunMs = begunMsOf(row) + toleranceMs
  const [found] = await asSystem(orm, (em) =>
    em.execute<ProviderRow[]>(
      `SELECT p.id, i.id AS integration, i.credential, i.configurations, i.secret_configurations AS secret, o.settings, ${termsColumns},
              p.workspace_id AS home, ${mappedSecretsColumn('i')} AS mapped,
              (SELECT m.configurations ->> 'custom_host' FROM logs l JOIN integration_models m ON m.slug = l.model
                WHERE l.id = ? AND l.created_at BETWEEN to_timestamp(?::float8 / 1000 - 1) AND to_timestamp(?::float8 / 1000 + 1)
                  AND m.integration_id = i.id) AS model_host,
              ARRAY(SELECT m.configurations ->> 'custom_host' FROM integration_models m
                     WHERE m.integration_id = i.id AND m.configurations ->> 'custom_host' IS NOT NULL) AS model_hosts
         FROM providers p JOIN integrations i ON i.id = p.integration_id JOIN organisations o ON o.id = p.organisation_id
         JOIN workspaces w ON w.id = p.workspace_id
        WHERE p.organisation_id = ? AND i.ai_provider_id = ?
          AND CASE WHEN ?::uuid IS NOT NULL THEN p.id = ?::uuid
                   ELSE p.slug = ? AND (?::uuid IS NULL OR p.workspace_id = ?::uuid) AND p.created_at <= to_timestamp(?::float8 / 1000)
                    AND NOT EXISTS (SELECT FROM providers n WHERE n.workspace_id = p.workspace_id AND n.slug = p.slug
                                       AND n.created_at > p.created_at AND n.created_at <= to_timestamp(?::float8 / 1000)) END
        ORDER BY w.is_default DESC, p.created_at, p.id LIMIT 1`,
      [
        row.id,
        row.begun_ms,
        row.begun_ms,
        organisationId,
        row.provider,
        row.provider_id,
        row.provider_id,
        slug,
        workspaceId,
        workspaceId,
        begunMs,
        begunMs,
      ],
    ),
  )
  if (found === undefined) throw new ApiError('not_found', `The provider @${slug} that took it is not there any more.`)
  const sealed: SealedCredential = {
    id: found.integration,
    organisationId,
    credential: found.credential,
    configurations: found.configurations,
    secretConfigurations: found.secret,
    mapped: { secrets: found.mapped, workspaceId: found.home },
  }
  const stored = await loadCredential(sealed, vault)
  const target = storedTarget(row.provider, { ...stored, customHost: hostOf(row, found) ?? stored.customHost }, organisationId)
  return {
    target,
    egress: egress.ownedBy(row.organisation_id),
    signing,
    allowedHosts: allowedHostsOf(found.settings),
    tookAt: row.host,
    terms: storedTerms(found),
  }
}

/** Returns the host of a model that took the batch; null: it was none of those. */
const hostOf = ({ host }: BatchRow, { model_host: named, model_hosts: hosts }: ProviderRow): string | null =>
  host === null ? named : hosts.includes(host) ? host : null

interface BatchSettlement extends Omit<RepriceOptions, 'jobs'> {
  readonly cost: BatchCost
  readonly reason: string
}

/**
 * The log that began the batch gets its cost as an adjustment, which its budgets follow; all in one transaction. The other attempts of its request
 * keep their costs.
 */
async function writeCost(em: EntityManager, row: BatchRow, { cost, reason, prices, termsOf }: BatchSettlement): Promise<void> {
  const { organisation_id: organisationId, id, log_id: logId } = row
  await lockCosts(em, organisationId)
  const [settled] = await em.execute<object[]>(
    `UPDATE provider_batches SET state = 'settled', settled_at = now(), fault = NULL WHERE id = ? AND state = 'open' RETURNING id`,
    [id],
  )
  if (settled === undefined) return
  const log = await readCost(em, { organisationId, id: logId ?? id, begunMs: row.begun_ms })
  if (log === null) throw new ApiError('not_found', 'The log of the request that began it is not kept any more.')
  const attempt = row.attempt ?? log.retry_count
  const { state, catalogue } = reprice(log.charges, { prices, termsOf, jobs: [...jobsOf(log), { attempt, cost }] })
  const { before, others, budgets } = withoutAttempt(log, attempt)
  const amount = BigInt(log.cost_pico ?? '0') - before + cost.amount
  const now = {
    state,
    amount,
    lines: [...others, ...cost.lines.map((line) => Object.assign({ attempt }, line))],
    catalogue: cost.catalogue ?? catalogue,
    amounts: new Map([[attempt, cost.amount]]),
    least: new Set<number>(),
  }
  const author = { organisationId, recomputeId: id, reason, madeBy: settler, job: { attempt, state: cost.state } }
  // Earlier corrections were of the other attempts, or are in the budgets.
  await writeAdjustments(em, [{ row: { ...log, budgets, corrected: null }, now, amount }], author)
}

/** Returns the costs of a log without an attempt. An earlier charge of the attempt itself is part of the job's cost too, and counts once. */
function withoutAttempt({ lines, budgets }: Pick<CostRow, 'lines' | 'budgets'>, attempt: number) {
  const own = lines.filter((line) => line.attempt === attempt)
  const before = own.reduce((sum, line) => sum + BigInt(line.amount), 0n)
  const isCorrected = (of: number) => of === attempt && own.length > 0
  return {
    before,
    others: lines.filter((line) => line.attempt !== attempt),
    budgets:
      budgets?.map(([of, ...counted]) => [of, counted[0], counted[1], isCorrected(of) ? String(before) : counted[2]] as const) ?? null,
  }
}
