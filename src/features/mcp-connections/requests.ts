import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import type { Place, Vault } from '../../app/secrets/vault.ts'
import { McpConnectionRequest } from './mcp-connection-request.entity.ts'

/** So long a person has to sign in. */
export const requestMs = 10 * 60_000

/** A person has so many; the oldest make room. */
const mostOfPerson = 20

const contents = z.object({
  verifier: z.string(),
  issuer: z.string(),
  namesItself: z.boolean(),
  tokenEndpoint: z.string(),
  resource: z.string().nullable(),
  serverUrl: z.string(),
  client: z.object({
    clientId: z.string(),
    clientSecret: z.string().nullable(),
    authMethod: z.enum(['client_secret_basic', 'client_secret_post', 'none']),
  }),
})

/** The part of a request that waits here. */
export type RequestContents = z.output<typeof contents>

const placeOf = ({ id, organisationId }: Pick<McpConnectionRequest, 'id' | 'organisationId'>): Place => ({
  organisationId,
  table: 'mcp_connection_requests',
  column: 'contents',
  rowId: id,
})

export const sealRequest = async (
  vault: Vault,
  row: Pick<McpConnectionRequest, 'id' | 'organisationId'>,
  given: RequestContents,
): Promise<Buffer> => Buffer.from(await vault.encrypt(placeOf(row), JSON.stringify(given)))

/** Opens the contents of a request. */
export const openRequest = async (vault: Vault, row: TakenRequest): Promise<RequestContents> =>
  contents.parse(JSON.parse(await vault.decrypt(placeOf(row), row.contents)))

/** Returns a state as the database stores it. */
export const hashOf = ({ hashKey }: Pick<Vault, 'hashKey'>, state: string): Buffer => hashKey(`mcp-connection:${state}`)

/** Removes the oldest requests of a person, so that one more has room. */
export async function makeRoom(em: EntityManager, userId: string): Promise<void> {
  const oldest = await em.find(McpConnectionRequest, { userId }, { orderBy: { createdAt: 'desc', id: 'desc' }, offset: mostOfPerson - 1 })
  for (const row of oldest) em.remove(row)
  await em.flush()
}

/** A request that was used up. */
export interface TakenRequest extends Pick<McpConnectionRequest, 'id' | 'organisationId' | 'serverId' | 'userId'> {
  readonly contents: Buffer
}

interface Holder {
  readonly keyHash: Buffer
  readonly userId: string
  readonly sessionId: string
  readonly now: Date
}

/** Uses up the request of a state, in the session that began it; null: there is none. */
export async function takeRequest(em: EntityManager, { keyHash, userId, sessionId, now }: Holder): Promise<TakenRequest | null> {
  const [row] = await em.execute<TakenRequest[]>(
    `DELETE FROM mcp_connection_requests WHERE key_hash = ? AND user_id = ? AND session_id = ? AND expires_at > ?
     RETURNING id, organisation_id AS "organisationId", server_id AS "serverId", user_id AS "userId", contents`,
    [keyHash, userId, sessionId, now],
  )
  return row ?? null
}
