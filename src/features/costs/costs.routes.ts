import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { route } from '../../app/route.ts'
import { ApiError } from '../../lib/errors.ts'
import { readTerms } from '../providers/index.ts'
import { jobsOf } from './job-cost.ts'
import { recomputeBody, recomputed } from './costs.schema.ts'
import { type Change, changeOf, type CostRow, lockCosts, readCosts, readPriced, writeAdjustments } from './recompute.ts'
import { reprice, type RepricedCost } from './reprice.ts'

export const recomputeCosts = route({
  method: 'POST',
  path: '/costs/recompute',
  summary: 'Price logs again with the present lists; changes are written beside the first cost, never over it',
  permission: 'organisation_settings.update',
  audience: 'organisation',
  resource: 'cost.recompute',
  action: 'recompute',
  body: recomputeBody,
  response: recomputed,
})(async ({ em, actor, body, audit, deps: { catalogue } }) => {
  const { organisationId } = actor
  if (Date.parse(body.start) >= Date.parse(body.end))
    throw new ApiError('AB01', 'The range is empty: `end` must be after `start`.', { param: 'end' })
  const asked = { organisationId, ...rangeOf(body) }
  // Lists are waited for before the lock, under which batches are charged too.
  await Promise.all((await readPriced(em, asked)).map((provider) => catalogue.ready('pricing', provider)))
  if (!body.dry_run) await lockCosts(em, organisationId)
  const rows = await readCosts(em, asked)
  if (rows.some(({ id, settlements }) => id === body.recompute_id || settlements?.some((settled) => settled.id === body.recompute_id)))
    throw new ApiError('AB01', 'The id of a log, or of a job that it began, is kept for the cost of that.', { param: 'recompute_id' })
  const findTerms = await readTerms(em, organisationId)
  const counted = rows.map((row): RecountedLog => {
    const termsOf = ({ slug }: { readonly slug?: string | null }) =>
      findTerms({ workspaceId: row.workspace_id, slug: (slug === undefined ? row.provider_slug : slug) ?? '', at: row.begun_ms })
    const now = reprice(row.charges, { prices: catalogue.prices, termsOf, jobs: jobsOf(row) })
    return { row, now, change: changeOf(row, now) }
  })
  const id = body.recompute_id ?? randomUUID()
  const author = { organisationId, recomputeId: id, reason: body.reason ?? null, madeBy: actor.id, job: null }
  if (!body.dry_run)
    await writeAdjustments(
      em,
      counted.flatMap(({ change }) => change ?? []),
      author,
    )
  audit({ id })
  const hasMore = rows.length === body.limit
  return {
    object: 'cost.recompute' as const,
    id,
    dry_run: body.dry_run,
    ...figuresOf(counted),
    models: byModel(counted),
    has_more: hasMore,
    next_after: hasMore ? (rows.at(-1)?.id ?? null) : null,
  }
})

interface RecountedLog {
  readonly row: CostRow
  readonly now: RepricedCost
  readonly change: Change | null
}

const rangeOf = ({ start, end, filters, after, limit }: z.output<typeof recomputeBody>) => ({
  start,
  end,
  workspaceId: filters.workspace_id ?? null,
  providers: filters.provider ?? null,
  models: filters.model ?? null,
  states: filters.cost_state ?? null,
  after: after ?? null,
  limit,
})

function figuresOf(counted: readonly RecountedLog[]) {
  const before = counted.reduce((sum, { row }) => sum + BigInt(row.cost_pico ?? '0'), 0n)
  const delta = counted.reduce((sum, { row, change }) => sum + (change === null ? 0n : change.amount - BigInt(row.cost_pico ?? '0')), 0n)
  const isUnpriced = ({ row }: RecountedLog) => row.cost_state === 'unpriced'
  return {
    requests: counted.length,
    changed: counted.filter(({ change }) => change !== null).length,
    before_pico_usd: String(before),
    after_pico_usd: String(before + delta),
    delta_pico_usd: String(delta),
    unpriced_before: counted.filter(isUnpriced).length,
    unpriced_after: counted.filter((one) => isUnpriced(one) && one.change === null).length,
  }
}

function byModel(counted: readonly RecountedLog[]) {
  const models = Map.groupBy(counted, ({ row }) => `${row.provider ?? ''}\n${row.model ?? ''}`)
  return [...models.values()].map((ones) =>
    Object.assign({ provider: ones[0]?.row.provider ?? null, model: ones[0]?.row.model ?? null }, figuresOf(ones)),
  )
}
