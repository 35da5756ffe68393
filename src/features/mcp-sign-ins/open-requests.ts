import type { EntityManager } from '@mikro-orm/postgresql'
import { LockMode } from '@mikro-orm/postgresql'
import { z } from 'zod'
import type { Deps } from '../../app/deps.ts'
import { ApiError } from '../../lib/errors.ts'
import { McpClientDocument } from './mcp-client-document.entity.ts'
import { contentsPlace, McpSignInSecret } from './mcp-sign-in-secret.entity.ts'
import { hashOf } from './storage.ts'

/** The parts of an open request that we read; the library wrote it, and reads it again. */
const openRequest = z.looseObject({
  returnTo: z.string(),
  params: z.looseObject({ client_id: z.string(), redirect_uri: z.string(), resource: z.string() }),
  result: z.looseObject({}).optional(),
})

/** A request of a program that waits for its person. */
export interface OpenRequest {
  readonly row: McpSignInSecret
  readonly contents: z.output<typeof openRequest>
}

interface RequestReference {
  readonly id: string
  readonly userId: string
  /** Keeps others from deciding until the transaction ends. */
  readonly lock?: true
}

/** Returns an open request of a person. AB08: there is none, or it is another person's. */
export async function findRequest(em: EntityManager, { vault, clock }: Deps, { id, userId, lock }: RequestReference): Promise<OpenRequest> {
  const where = { kind: 'Interaction', keyHash: hashOf(vault, id), userId } as const
  const row = await em.findOne(McpSignInSecret, where, lock === true ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {})
  if (row === null || row.expiresAt.getTime() <= clock.now())
    throw new ApiError('AB08', 'There is no such request: it was answered, or its time is over. Begin again in the program.', {
      param: 'requestId',
    })
  const contents = openRequest.parse(JSON.parse(await vault.decrypt(contentsPlace(row), row.contents)))
  if (contents.result !== undefined) throw new ApiError('AB07', 'This request was decided on.', { param: 'requestId' })
  return { row, contents }
}

/** Writes the decision into the request, from where the library takes it up. The trail has the decision, and not these bytes. */
export async function decideRequest(em: EntityManager, { vault }: Deps, { row, contents, result }: DecidedRequest): Promise<void> {
  const sealed = Buffer.from(await vault.encrypt(contentsPlace(row), JSON.stringify({ ...contents, result })))
  await em.nativeUpdate(McpSignInSecret, { id: row.id }, { contents: sealed })
}

/** A request with the decision on it, as the library reads it. */
interface DecidedRequest extends OpenRequest {
  readonly result: object
}

const named = z.looseObject({ client_name: z.string().optional() })

/** Returns the name that a program gives itself; null: none. */
export async function clientNameOf(em: EntityManager, clientId: string): Promise<string | null> {
  const row = await em.findOne(McpClientDocument, { clientId })
  const name = row === null ? undefined : named.safeParse(JSON.parse(row.document)).data?.client_name
  // Invisible letters, and those that turn the direction of a text, would let a program look like another.
  return (
    name
      ?.replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu, '')
      .trim()
      .slice(0, 100)
      .toWellFormed() || null
  )
}
