import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { notFound, orNotFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { moneyTerms } from '../../gateway/ports/limits.ts'
import { changedLimits, demandSetter, type SetterRanks } from '../../lib/access/set-from-above.ts'
import { ApiError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { fromPico, toPico } from '../../lib/pico.ts'
import { fromAmount, isShownGroup, moneyFault, periodFault, ownGroups, presentLimit, thresholdFault, type Limit } from '../limits/index.ts'
import { demandOwnOrganisation, resolveWorkspace, visibleTo } from '../workspaces/index.ts'
import type { Condition, Group } from './conditions.schema.ts'
import { PolicyUsage } from './policy-usage.entity.ts'
import { RateLimitPolicy, UsageLimitPolicy } from './policy.entity.ts'

interface PolicyQuery {
  readonly id: string
  readonly status?: 'active' | 'archived'
  /** The parameter of the path. */
  readonly param: string
  readonly forWrite?: boolean
}

/** Archived policies are there only for those who ask for them, and do not change. */
const conditionOf = (actor: Actor, { id, status = 'active' }: PolicyQuery) => ({ id: id.toLowerCase(), ...visibleTo(actor), status })
const lockOf = ({ forWrite }: PolicyQuery) => (forWrite === true ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {})

const noun = 'policy'

/** A rate-limit policy that the caller may see; AB08 otherwise. */
export async function findRateLimit(em: EntityManager, actor: Actor, wanted: PolicyQuery): Promise<RateLimitPolicy> {
  if (!isUuid(wanted.id)) throw notFound(noun, wanted.id, wanted.param)
  const row = await em.findOne(RateLimitPolicy, conditionOf(actor, wanted), lockOf(wanted))
  return orNotFound(row, noun, { reference: wanted.id, param: wanted.param })
}

/** A usage-limit policy that the caller may see; AB08 otherwise. */
export async function findUsageLimit(em: EntityManager, actor: Actor, wanted: PolicyQuery): Promise<UsageLimitPolicy> {
  if (!isUuid(wanted.id)) throw notFound(noun, wanted.id, wanted.param)
  const row = await em.findOne(UsageLimitPolicy, conditionOf(actor, wanted), lockOf(wanted))
  return orNotFound(row, noun, { reference: wanted.id, param: wanted.param })
}

/** The workspace of a new policy. */
export async function homeOfPolicy(
  em: EntityManager,
  actor: Actor,
  { workspace_id, organisation_id }: { readonly workspace_id?: string | undefined; readonly organisation_id?: string | undefined },
): Promise<string> {
  demandOwnOrganisation(actor, organisation_id)
  return (await resolveWorkspace(em, actor, workspace_id)).id
}

interface NewPolicy {
  readonly name?: string | null | undefined
  readonly conditions: readonly Condition[]
  readonly group_by: readonly Group[]
}

/** Returns the first values of a new policy. */
export const newPolicy = (actor: Actor, workspaceId: string, { name, conditions, group_by }: NewPolicy) => ({
  organisationId: actor.organisationId,
  workspaceId,
  createdBy: actor.id,
  setterRanks: settersOfNew(actor),
  name: name ?? null,
  conditions,
  groupBy: group_by,
})

/** The most that the conditions and groups of the policies of a workspace have together, as JSON: each of its requests meets all of them. */
const mostBytes = 4 * 1024 * 1024

const bytesOfWorkspace = ['rate_limit_policies', 'usage_limit_policies']
  .map(
    (table) => `SELECT octet_length(conditions::text) + octet_length(group_by::text) AS bytes
      FROM ${table} WHERE organisation_id = ? AND workspace_id = ? AND status = 'active'`,
  )
  .join(' UNION ALL ')

/** AB07 when the policies of a workspace would become too large together. Those that store at the same time wait for each other. */
export async function demandRoomForPolicy(
  em: EntityManager,
  { organisationId }: Actor,
  { workspaceId, conditions, group_by }: Pick<NewPolicy, 'conditions' | 'group_by'> & { readonly workspaceId: string },
): Promise<void> {
  await em.execute('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [`gatehouse:policies:${workspaceId}`])
  const owner = [organisationId, workspaceId]
  const [there] = await em.execute<{ bytes: number }[]>(
    `SELECT coalesce(sum(bytes), 0)::float8 AS bytes FROM (${bytesOfWorkspace}) AS each`,
    [...owner, ...owner],
  )
  const added = Buffer.byteLength(JSON.stringify([conditions, group_by]))
  if ((there?.bytes ?? 0) + added <= mostBytes) return
  throw new ApiError(
    'AB07',
    `The conditions of the policies of this workspace have ${mostBytes / 1024 / 1024} MiB together at most. Delete a policy, or make its lists shorter.`,
    { param: 'conditions', details: { limit: mostBytes } },
  )
}

const ofPolicy = 'policy'

const settersOfNew = (actor: Actor): SetterRanks => changedLimits(actor, {}, [{ field: ofPolicy, before: null, after: true }])

/** Throws AB03 for a policy that was made from above; `param` names the field that would change it. */
export const demandPolicy = (actor: Actor, { setterRanks }: Pick<RateLimitPolicy, 'setterRanks'>, param: string): void =>
  demandSetter(actor, setterRanks, { field: ofPolicy, param })

/** Returns the limits of a policy, as text by the names of the fields. */
export const limitsIn = (row: RateLimitPolicy | UsageLimitPolicy): Readonly<Record<string, string>> =>
  'creditLimit' in row
    ? {
        credit_limit: String(row.creditLimit),
        alert_threshold: String(row.alertThreshold ?? ''),
        periodic_reset: row.periodicReset ?? '',
        periodic_reset_days: String(row.periodicResetDays ?? ''),
        next_usage_reset_at: row.nextUsageResetAt?.toISOString() ?? '',
        on_unpriced: row.onUnpriced ?? '',
        output_policy: row.outputPolicy ?? '',
      }
    : { unit: row.unit, value: String(row.value) }

/** Records the rank of the caller that changes the limit of a policy. Throws AB03 for a policy that was made from above. */
export function noteSetter(actor: Actor, row: RateLimitPolicy | UsageLimitPolicy, before: ReturnType<typeof limitsIn>): void {
  const changed = Object.entries(limitsIn(row)).find(([name, value]) => before[name] !== value)
  if (changed === undefined) return
  demandPolicy(actor, row, changed[0])
  row.setterRanks = settersOfNew(actor)
}

/** Refuses a usage that starts again in two ways, or at a time without a period. */
export function demandPeriod(limit: Limit): void {
  const fault = periodFault(limit)
  if (fault !== null) throw new ApiError('AB01', fault.message, { param: fault.field })
}

/** Refuses a threshold that is never reached, as the limit refuses before it. */
export function demandThreshold(limit: Limit): void {
  const fault = thresholdFault({ credit_limit: fromAmount(limit.creditLimit), alert_threshold: fromAmount(limit.alertThreshold) })
  if (fault !== null) throw new ApiError('AB01', fault.message, { param: fault.field })
}

/** Refuses fields of a limit in money for a policy that counts another unit. */
export function demandMoney(policy: Parameters<typeof moneyFault>[0]): void {
  const fault = moneyFault(policy)
  if (fault !== null) throw new ApiError('AB01', fault.message, { param: fault.field })
}

/** Tokens and requests are whole, and dollars are counted in nano-dollars. AB01 for an amount that cannot be held to. */
export function demandAmounts(type: UsageLimitPolicy['type'], amounts: { readonly [param: string]: number | null | undefined }): void {
  const [unit, words] = type === 'cost' ? [1_000n, 'at most nine digits behind the point'] : [10n ** 12n, `a whole number of ${type}`]
  for (const [param, amount] of Object.entries(amounts)) {
    if (typeof amount !== 'number') continue
    const pico = toPico(amount)
    if (pico % unit === 0n && fromPico(pico) === amount) continue
    throw new ApiError('AB01', `${param} must be ${words}.`, { param })
  }
}

/** Starts a usage again at 0. */
export function resetUsage(row: PolicyUsage, nowMs: number): void {
  Object.assign(row, {
    currentUsage: 0n,
    status: 'active',
    isThresholdAlertsSent: false,
    isExhaustedAlertsSent: false,
    lastResetAt: new Date(nowMs),
  } satisfies Partial<PolicyUsage>)
}

/** Starts the usage of one value key again; AB08 when the policy has no count under it. */
export async function resetValue(
  em: EntityManager,
  policy: UsageLimitPolicy,
  { valueKey, nowMs }: { valueKey: string; nowMs: number },
): Promise<void> {
  const row = await em.findOne(PolicyUsage, { policyId: policy.id, valueKey }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  resetUsage(orNotFound(row, 'usage', { reference: valueKey, param: 'reset_usage_for_value' }), nowMs)
}

/** Returns the usage under a policy, by value key. */
export async function usageOf(em: EntityManager, actor: Actor, policy: UsageLimitPolicy) {
  const own = await ownGroups(em, actor)
  const all = await em.find(PolicyUsage, { policyId: policy.id }, { orderBy: { valueKey: 'asc' } })
  const rows = all.filter(({ valueKey }) => isShownGroup(own, valueKey))
  return Object.fromEntries(
    rows.map((row) => [
      row.valueKey,
      {
        current_usage: fromAmount(row.currentUsage),
        status: row.status,
        is_threshold_alerts_sent: row.isThresholdAlertsSent,
        is_exhausted_alerts_sent: row.isExhaustedAlertsSent,
      },
    ]),
  )
}

const presentPolicy = (row: RateLimitPolicy | UsageLimitPolicy) => ({
  id: row.id,
  name: row.name ?? null,
  conditions: row.conditions.map(({ key, value, excludes }) => ({
    key,
    value: listOrText(value),
    ...(excludes !== undefined && { excludes: listOrText(excludes) }),
  })),
  group_by: [...row.groupBy],
  status: row.status,
  workspace_id: row.workspaceId,
  organisation_id: row.organisationId,
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
})

const listOrText = (value: string | readonly string[]): string | string[] => (typeof value === 'string' ? value : [...value])

/** A rate-limit policy as it is answered. */
export const presentRateLimit = (row: RateLimitPolicy) => ({
  ...presentPolicy(row),
  type: row.type,
  unit: row.unit,
  value: row.value,
  object: 'policy_rate_limits' as const,
})

/** Returns when the next periods of policies begin, by id. */
export async function nextBorders(em: EntityManager, policies: readonly UsageLimitPolicy[]): Promise<ReadonlyMap<string, string>> {
  const ids = policies.flatMap(({ id, periodicReset, periodicResetDays }) =>
    periodicReset == null && periodicResetDays == null ? [] : [id],
  )
  if (ids.length === 0) return new Map()
  const rows = await em.execute<{ readonly id: string; readonly ends: number }[]>(
    `SELECT p.id, limit_ms((limit_period(clock_timestamp(), p.periodic_reset, p.periodic_reset_days,
              coalesce(p.next_usage_reset_at, CASE WHEN p.periodic_reset_days IS NOT NULL THEN date_trunc('milliseconds', p.created_at) END))).ends)::float8 AS ends
       FROM usage_limit_policies p WHERE p.id IN (${ids.map(() => '?').join(', ')})`,
    ids,
  )
  return new Map(rows.map(({ id, ends }) => [id, new Date(ends).toISOString()]))
}

/** A usage-limit policy as it is answered. */
export function presentUsageLimit(row: UsageLimitPolicy, borders: ReadonlyMap<string, string>) {
  const money = row.type === 'cost' ? moneyTerms(row.outputPolicy, row.onUnpriced) : null
  return {
    ...presentPolicy(row),
    ...presentLimit(row),
    credit_limit: fromAmount(row.creditLimit),
    next_usage_reset_at: borders.get(row.id) ?? null,
    last_reset_at: row.lastResetAt?.toISOString() ?? null,
    on_unpriced: money?.onUnpriced ?? null,
    output_policy: money?.output ?? null,
    object: 'policy_usage_limits' as const,
  }
}
