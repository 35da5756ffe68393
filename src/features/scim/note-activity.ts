import type { EntityManager } from '@mikro-orm/postgresql'
import { inTenant } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import type { ProtocolRequest } from '../../app/protocol.ts'
import { oneLine } from '../../lib/text/one-line.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { scrubSecrets } from '../../lib/text/secret-shapes.ts'
import { badToken, stillGood, type Part } from './clients.ts'
import type { ActivityResource, Operation } from './scim-activity.entity.ts'
import { isObject } from './schema/normalise.ts'

const operationBy: Readonly<Record<ProtocolRequest['route']['method'], Operation>> = {
  POST: 'create',
  PUT: 'replace',
  PATCH: 'patch',
  DELETE: 'delete',
  GET: 'read',
}

/**
 * Notes a write of an identity provider, as its last step. Looking is not noted: providers look before each write. Throws AB05, which undoes
 * the write, if the token was revoked or rotated, or has expired, while the write waited for others.
 */
export async function noteWrite(heard: ProtocolRequest, em: EntityManager, { clock }: Pick<Deps, 'clock'>): Promise<void> {
  const noted = await insert(em, rowOf(heard, clock.now()), stillGood(heard.actor, { clock }))
  if (!noted) throw badToken()
}

/** Notes a refusal of an identity provider's request. */
export const noteRefusal = (heard: ProtocolRequest, { orm, clock }: Pick<Deps, 'orm' | 'clock'>): Promise<void> =>
  inTenant(orm, heard.actor.organisationId, async (em) => void (await insert(em, rowOf(heard, clock.now()), { sql: '', values: [] })))

/** Not as an entity: a note is no change of the trail. Returns false if its source has no row. */
async function insert(em: EntityManager, row: ReturnType<typeof rowOf>, { sql, values }: Part): Promise<boolean> {
  const names = Object.keys(row)
  const rows = await em.execute<unknown[]>(
    `INSERT INTO scim_activity (${names.join(', ')}) SELECT ${names.map((name) => `?::${types[name] ?? 'text'}`).join(', ')} ${sql} RETURNING id`,
    [...Object.values(row), ...values],
  )
  return rows.length > 0
}

const types: Readonly<Record<string, string>> = {
  id: 'uuid',
  organisation_id: 'uuid',
  token_id: 'uuid',
  status: 'integer',
  created_at: 'timestamptz',
}

const rowOf = (heard: ProtocolRequest, now: number) => ({
  id: uuidv7(),
  organisation_id: heard.actor.organisationId,
  token_id: heard.actor.id,
  token_name: heard.actor.name ?? '',
  operation: operationBy[heard.route.method],
  resource_type: resourceOf(heard.route.path),
  ...about(heard),
  status: heard.answer.status,
  request_id: heard.requestId,
  created_at: new Date(now),
})

const resourceOf = (path: string): ActivityResource => (path.startsWith('/Users') ? 'User' : path.startsWith('/Groups') ? 'Group' : 'Other')

const longestName = 255
const longestError = 1000

/** Returns the subject of a request. For a refused one only the identity provider's own values are known. */
function about({ params, body, answer }: ProtocolRequest) {
  const failed = answer.status >= 400
  const told = failed ? body : (answer.body ?? body)
  return {
    resource_id: clipped(params['id'] ?? fieldOf(failed ? null : answer.body, 'id'), longestName),
    resource_name: clipped(fieldOf(told, 'userName') ?? fieldOf(told, 'displayName'), longestName),
    scim_type: failed ? clipped(fieldOf(answer.body, 'scimType'), longestName) : null,
    error: failed ? clipped(fieldOf(answer.body, 'detail'), longestError) : null,
  }
}

const fieldOf = (value: unknown, name: string): string | null => {
  const found = isObject(value) ? value[name] : null
  return typeof found === 'string' && found !== '' ? found : null
}

const clipped = (text: string | null, most: number): string | null => (text === null ? null : oneLine(scrubSecrets(text), most))
