import type { EntityManager } from '@mikro-orm/postgresql'
import { canonicalJson } from '../../../lib/json/canonical-json.ts'
import { ApiError } from '../../../lib/errors.ts'
import { uuidv7 } from '../../../lib/uuid.ts'
import type { Deps } from '../../deps.ts'
import type { Actor } from '../../route.ts'

/** A POST that its caller may send again: its idempotency key, and the contents of the request. */
export interface Repeatable {
  readonly actor: Actor
  readonly key: string
  /** Everything by which the second request must equal the first. */
  readonly request: Readonly<Record<'path' | 'query' | 'body', unknown>>
}

type Needs = Pick<Deps, 'vault' | 'clock'>

/** A long answer of a request without a change is not kept: to ask again does no harm. */
const mostOfTrial = 16 * 1024
const keptMs = 24 * 60 * 60 * 1000
const param = 'idempotency-key'
const keyShape = /^[\x21-\x7e]{1,255}$/

/** The caller's key; null when there is none. */
export function idempotencyKey(header: string): string | null {
  if (header === '') return null
  if (keyShape.test(header)) return header
  throw new ApiError('AB01', 'An Idempotency-Key is 1 to 255 visible ASCII characters.', { param })
}

/**
 * Returns the answer of the same request before; null if this is the first one, which then holds the key until its transaction ends.
 * AB07 while the first one still runs, AB01 when the key was used for something else.
 */
export async function recall(em: EntityManager, { actor, key, request }: Repeatable, { vault, clock }: Needs): Promise<unknown> {
  const keyHash = hashKey(actor, key, vault)
  const [lock] = await em.execute<{ got: boolean }[]>('SELECT pg_try_advisory_xact_lock(hashtextextended(?, 0)) AS got', [
    `gatehouse:idempotency:${keyHash.toString('hex')}`,
  ])
  if (lock?.got !== true) {
    throw new ApiError('AB07', 'A request with this Idempotency-Key is still running. Ask again when it has ended.', {
      param,
      retryAfter: 1,
    })
  }
  const [row] = await em.execute<{ id: string; request_hash: Uint8Array; response: Uint8Array }[]>(
    'SELECT id, request_hash, response FROM idempotency_keys WHERE organisation_id = ? AND key_hash = ? AND expires_at > ?',
    [actor.organisationId, keyHash, new Date(clock.now())],
  )
  if (row === undefined) return null
  if (!hashRequest(request, vault).equals(row.request_hash)) {
    throw new ApiError('AB01', 'This Idempotency-Key was used for another request. Choose a new key for a new request.', { param })
  }
  return JSON.parse(await vault.decrypt(place(actor, row.id), row.response))
}

/** Keeps the answer of the first time, in the transaction of the write itself. */
export async function remember(
  em: EntityManager,
  { actor, key, request }: Repeatable,
  { vault, clock, answer, isChange }: Needs & { answer: unknown; isChange: boolean },
): Promise<void> {
  const text = JSON.stringify(answer)
  if (!isChange && text.length > mostOfTrial) return
  const id = uuidv7()
  await em.execute(
    `INSERT INTO idempotency_keys (id, organisation_id, key_hash, request_hash, response, expires_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (organisation_id, key_hash) DO UPDATE
        SET id = excluded.id, request_hash = excluded.request_hash, response = excluded.response, expires_at = excluded.expires_at`,
    [
      id,
      actor.organisationId,
      hashKey(actor, key, vault),
      hashRequest(request, vault),
      await vault.encrypt(place(actor, id), text),
      new Date(clock.now() + keptMs),
    ],
  )
}

const place = ({ organisationId }: Actor, rowId: string) => ({ organisationId, table: 'idempotency_keys', column: 'response', rowId })

/** Callers do not share keys: two may well choose the same one. */
const hashKey = (actor: Actor, key: string, vault: Needs['vault']) => vault.hashKey(`idempotency-key:${actor.type}:${actor.id}:${key}`)

const hashRequest = (request: Repeatable['request'], vault: Needs['vault']) => vault.hashKey(`idempotent:${canonicalJson(request)}`)
