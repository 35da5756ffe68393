import type { ResponseReader } from '../../gateway/ports/stored-responses.ts'
import { ApiError } from '../../lib/errors.ts'
import type { SideConnections } from '../database/side-pool.ts'

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** Runs statements in one transaction that sees the rows of one organisation and no other; returns the rows of the last. */
export const inTenant = <Row extends object>(
  connections: SideConnections,
  organisationId: string,
  statements: readonly Statement[],
): Promise<readonly Row[]> =>
  reachable(() =>
    connections.inOrganisation(organisationId, async (client) => {
      let rows: Row[] = []
      for (const { text, values } of statements) ({ rows } = await client.query<Row>(text, [...values]))
      return rows
    }),
  )

/** Reports a database that cannot be reached as one. */
export async function reachable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    throw new ApiError('dependency_unavailable', 'Files and batches cannot be reached: the database is away. Try again.', { cause })
  }
}

/** The condition under which a reader sees a row, whose values are `readerValues`: `$1` to `$4`. */
export const visibleTo = `organisation_id = $1 AND workspace_id IS NOT DISTINCT FROM $4 AND ($2::uuid IS NULL OR api_key_id = $2 OR user_id = $3)`

/** The organisation, the key and its person, and the workspace; no key and no person for readers of a whole workspace. */
export const readerValues = ({ organisationId, workspaceId, own }: ResponseReader): readonly unknown[] => [
  organisationId,
  own?.apiKeyId ?? null,
  own?.userId ?? null,
  workspaceId,
]

/** Returns a time as whole seconds, in SQL. */
export const seconds = (column: string): string => `floor(extract(epoch FROM ${column}))::float8`
