import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import { route } from '../../app/route.ts'
import { findGroups } from './groups.queries.ts'
import { groupColumns, groupQuery } from './groups.schema.ts'
import { measureFields } from './measures.ts'
import { answerInTime, sampled } from './sampling.ts'
import { logsFrom, usageOf } from './usage-of.ts'

const { workspace: _, ...traits } = groupColumns
type Trait = keyof typeof traits
const isTrait = (name: string): name is Trait => Object.hasOwn(traits, name)
const traitNames = Object.keys(traits).filter(isTrait)
const mostTraits = 3

const groupByField = z
  .string()
  .max(255)
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  )
  .pipe(z.array(z.enum(traitNames)).max(mostTraits))
  .transform((names) => [...new Set(names)])

const query = groupQuery
  .extend({
    group_by: groupByField.default([]).meta({
      description: `What else to group by, at most ${mostTraits} of ${traitNames.map((name) => `\`${name}\``).join(', ')}, comma-separated.`,
    }),
  })
  .meta({ id: 'WorkspaceGroupQuery', description: 'The requests to group, and the figures of each group.' })

const list = z
  .object({
    object: z.literal('list'),
    total: z.int().meta({ description: 'Groups in all.' }),
    data: z.array(
      z.object({
        object: z.literal('analytics-group'),
        workspace_id: z.uuid().nullable(),
        workspace_slug: z.string().nullable(),
        keys: z
          .record(z.string(), z.string().nullable())
          .meta({ description: 'The value of each trait of `group_by`; null: the requests have none.' }),
        requests: z.int(),
        ...measureFields,
      }),
    ),
    ...sampled,
  })
  .meta({ id: 'WorkspaceGroupList', description: 'A page of groups, those with most requests first.' })

export const readWorkspaceGroups = route({
  method: 'GET',
  path: '/analytics/groups/workspaces',
  summary: 'Group requests by workspace and up to three other traits, with figures of each group',
  permission: 'analytics.view',
  query,
  costly: () => true,
  response: list,
})(async ({ em, actor, query: { group_by: names, columns, page_size, current_page, ...filters }, deps }) => {
  const usage = await usageOf({ em, actor, query: filters, deps })
  const by = ['workspace_id', ...names.map((name) => traits[name])]
  const kept = { em, logsFrom: await logsFrom(em, usage.scope, deps) }
  const { groups, total, ...rest } = await answerInTime({ ...kept, usage }, (of) =>
    findGroups(em, of, { by, columns, page_size, current_page, logsFrom: kept.logsFrom }),
  )
  const slugs = await slugsOf(
    em,
    groups.map(({ keys: [id = null] }) => id),
  )
  const data = groups.map(({ keys: [id = null, ...values], requests, figures }) =>
    Object.assign(
      {
        object: 'analytics-group' as const,
        workspace_id: id,
        workspace_slug: slugs.get(id) ?? null,
        keys: Object.fromEntries(names.map((name, at) => [name, values[at] ?? null])),
        requests,
      },
      figures,
    ),
  )
  return { object: 'list' as const, total, data, ...rest }
})

/** Returns the slugs of workspaces, archived ones too. */
async function slugsOf(em: EntityManager, ids: readonly (string | null)[]): Promise<ReadonlyMap<string | null, string>> {
  const known = [...new Set(ids)].filter((id) => id !== null)
  if (known.length === 0) return new Map()
  const rows = await em.execute<{ id: string; slug: string }[]>(
    `SELECT id, slug FROM workspaces WHERE id IN (${known.map(() => '?').join(', ')})`,
    known,
  )
  return new Map(rows.map(({ id, slug }) => [id, slug]))
}
