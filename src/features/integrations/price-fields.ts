import { isDeepStrictEqual } from 'node:util'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Actor } from '../../app/route.ts'
import { demandMoneySetter } from '../limits/index.ts'
import type { Integration } from './integration.entity.ts'

/** A field that decides what requests cost, as it was and as it is to be; undefined: it stays. */
export interface PriceChange {
  readonly param: string
  readonly before: unknown
  readonly after: unknown
}

/** Throws AB03 for a price that changes while a limit in money of the workspace was set from above: at another price it would be another limit. */
export async function demandPrices(
  em: EntityManager,
  actor: Actor,
  {
    integration: { workspaceId },
    changes,
  }: { readonly integration: Pick<Integration, 'workspaceId'>; readonly changes: readonly PriceChange[] },
): Promise<void> {
  const changed = changes.find(({ before, after }) => after !== undefined && !isDeepStrictEqual(toStored(before), toStored(after)))
  if (changed !== undefined) await demandMoneySetter(em, actor, { workspaceId, param: changed.param })
}

/** Absent, null and false are no terms. */
const toStored = (value: unknown): unknown => (value === false ? null : (value ?? null))
