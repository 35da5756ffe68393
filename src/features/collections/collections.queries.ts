import type { EntityManager } from '@mikro-orm/postgresql'
import { findDependants, type Dependant } from '../../app/database/dependants.ts'

/** How much lies directly in a collection. */
export interface Content {
  readonly count: number
  readonly latest: string | null
}

/** The contents of each of these collections, by its id; empty collections are absent. */
export interface Contents {
  readonly children: ReadonlyMap<string, Content>
  readonly prompts: ReadonlyMap<string, Content>
}

interface Row {
  readonly kind: 'children' | 'prompts'
  readonly id: string
  readonly count: number
  readonly latest: Date
}

/** Counts the contents of the collections with these ids. */
export async function countContents(em: EntityManager, ids: readonly string[]): Promise<Contents> {
  if (ids.length === 0) return { children: new Map(), prompts: new Map() }
  const among = ids.map(() => '?').join(', ')
  const rows = await em.execute<Row[]>(
    `SELECT 'children' AS kind, parent_collection_id AS id, count(*)::int AS count, max(last_updated_at) AS latest
       FROM collections WHERE status = 'active' AND parent_collection_id IN (${among}) GROUP BY 2
     UNION ALL
     SELECT 'prompts', collection_id, count(*)::int, max(last_updated_at)
       FROM prompts WHERE status = 'active' AND collection_id IN (${among}) GROUP BY 2`,
    [...ids, ...ids],
  )
  const of = (wanted: Row['kind']) =>
    new Map(
      rows.filter(({ kind }) => kind === wanted).map(({ id, count, latest }) => [id, { count, latest: new Date(latest).toISOString() }]),
    )
  return { children: of('children'), prompts: of('prompts') }
}

/** Returns the direct contents of a collection, partials too. */
export const thingsIn = (em: EntityManager, id: string): Promise<Dependant[]> =>
  findDependants(em, {
    sql: `SELECT 'collection', id, slug, name, workspace_id FROM collections WHERE status = 'active' AND parent_collection_id = ?
     UNION ALL SELECT 'prompt', id, slug, name, workspace_id FROM prompts WHERE status = 'active' AND collection_id = ?
     UNION ALL SELECT 'partial', id, slug, name, workspace_id FROM prompt_partials WHERE status = 'active' AND collection_id = ?`,
    values: [id, id, id],
  })
