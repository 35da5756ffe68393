import type { EntityManager } from '@mikro-orm/postgresql'
import type { Actor } from '../../app/route.ts'
import type { Level } from '../../release/level.ts'
import { ApiError } from '../../lib/errors.ts'
import { logScopeOf, type LogScope } from '../logs/index.ts'
import { findEvenArchived, workspaceFilter } from '../workspaces/index.ts'
import type { UsageQuery } from './usage.schema.ts'
import { dayMs, stepFor } from './steps.ts'
import type { Usage } from './usage-source.ts'

/** The parts of a call that analytics need. */
export interface AnalyticsCall {
  readonly em: EntityManager
  readonly actor: Actor
  readonly query: UsageQuery
  readonly deps: {
    readonly clock: { now(): number }
    readonly level: Level
    readonly config: { readonly logRetentionDays: number }
  }
}

const defaultRangeMs = 30 * dayMs
const longestRangeMs = 3700 * dayMs

/** Returns the requests that a query is about: those that the caller may see, and no others. */
export async function usageOf({ em, actor, query, deps }: AnalyticsCall): Promise<Usage> {
  const { workspace_slug: reference, time_of_generation_min: min, time_of_generation_max: max, ...filters } = query
  const workspaceId = await analysedWorkspace(em, actor, { reference, level: deps.level })
  const to = max === undefined ? deps.clock.now() : Date.parse(max)
  const from = min === undefined ? to - defaultRangeMs : Date.parse(min)
  if (to - from > longestRangeMs)
    throw new ApiError('AB01', 'A range of analytics has at most 3700 days.', { param: 'time_of_generation_min' })
  return { scope: { ...logScopeOf(actor), workspaceId }, filters, from, to, step: stepFor(to - from) }
}

/** Returns the time from which on all logs of a scope are kept: a workspace may keep its own for a shorter time than the installation. */
export async function logsFrom(
  em: EntityManager,
  { organisationId, workspaceId }: LogScope,
  { clock, config }: Pick<AnalyticsCall['deps'], 'clock' | 'config'>,
): Promise<number> {
  const [ofWorkspace, values] = workspaceId === null ? ['', []] : ['AND id = ?', [workspaceId]]
  const [row] = await em.execute<{ days: number | null }[]>(
    `SELECT min(log_retention_days) AS days FROM workspaces WHERE organisation_id = ? ${ofWorkspace}`,
    [organisationId, ...values],
  )
  const days = Math.min(row?.days ?? config.logRetentionDays, config.logRetentionDays)
  return Math.floor(clock.now() / dayMs) * dayMs - days * dayMs
}

async function analysedWorkspace(
  em: EntityManager,
  actor: Actor,
  { reference, level }: { readonly reference: string | undefined; readonly level: Level },
): Promise<string | null> {
  if (reference !== undefined && actor.workspaceId === null && level.atLeast('1.12.0')) {
    const found = await findEvenArchived(em, actor, reference)
    if (found !== null) return found.id
  }
  return workspaceFilter(em, actor, reference)
}
