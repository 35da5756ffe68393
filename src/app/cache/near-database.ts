import type { PlacedVector, PlacedAnswer } from '../../gateway/ports/cache.ts'
import type { SideConnections } from '../database/side-pool.ts'

/** The ability of a server to keep vectors: `ready`, or the reason why not. */
export type VectorSupport = 'ready' | 'missing' | 'old' | 'forbidden'

/** Makes the extension, table and index for vectors of this many dimensions, where the server has pgvector. */
export async function prepareVectors(connections: SideConnections, dimensions: number): Promise<VectorSupport> {
  const { rows } = await connections.query<{ support: VectorSupport }>('SELECT prepare_answer_vectors($1) AS support', [dimensions])
  return rows[0]?.support ?? 'missing'
}

/** Finds the keys of the nearest answers, the nearest first. */
export async function nearestInDatabase(
  connections: SideConnections,
  { scope, partition, vector }: PlacedVector,
  threshold: number,
): Promise<readonly string[]> {
  const { rows } = await connections.query<{ key: string }>('SELECT key FROM nearest_answers($1, $2, $3, $4)', [
    scope.organisationId,
    partition,
    textOf(vector),
    threshold,
  ])
  return rows.map(({ key }) => key)
}

/** Keeps a vector, unless its organisation purged answers after the request began. */
export async function keepInDatabase(
  connections: SideConnections,
  { key, scope, partition, vector, askedAt, expiresAt }: PlacedAnswer,
): Promise<void> {
  const { organisationId, workspaceId, namespace } = scope
  const times = [performance.now() - askedAt, expiresAt - Date.now()]
  await connections.query('SELECT keep_answer_vector($1, $2, $3, $4, $5, $6, $7, $8)', [
    key,
    organisationId,
    workspaceId,
    namespace,
    partition,
    ...times,
    textOf(vector),
  ])
}

/** pgvector's notation; a half float holds no more digits. */
const textOf = (vector: Float32Array): string => `[${Array.from(vector, (number) => number.toPrecision(5)).join(',')}]`
