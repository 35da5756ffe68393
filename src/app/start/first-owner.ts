import { randomUUID } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/postgresql'
import { isOn } from '../../config/effect.ts'
import { ApiError } from '../../lib/errors.ts'
import { hashPassword } from '../../lib/password.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { refuseWeakPassword } from '../../lib/weak-password.ts'
import { writeAudit } from '../audit/write.ts'
import { BootRefusal } from '../boot-refusal.ts'
import type { Deps } from '../deps.ts'

/** The person who is to own an organisation that has no owner yet. */
export interface FirstOwner {
  readonly organisationId: string
  /** The address in lower case. */
  readonly email: string
  readonly firstName?: string | null
  readonly lastName?: string | null
}

/** Makes the first owner, of a user when there is one with this address; null when there is an owner already, however many try at once. */
export async function makeFirstOwner(
  em: EntityManager,
  { organisationId, email, firstName, lastName }: FirstOwner,
): Promise<string | null> {
  await em.execute('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [`gatehouse:owner:${organisationId}`])
  const owners = await em.execute<unknown[]>(
    `SELECT 1 FROM users WHERE organisation_id = ? AND role = 'owner' AND status = 'active' LIMIT 1`,
    [organisationId],
  )
  if (owners.length > 0) return null
  const [made] = await em.execute<{ id: string }[]>(
    `INSERT INTO users (id, organisation_id, email, first_name, last_name, role) VALUES (?, ?, ?, ?, ?, 'owner')
     ON CONFLICT (organisation_id, email) WHERE status <> 'archived' DO UPDATE SET role = 'owner', last_updated_at = now() RETURNING id`,
    [uuidv7(), organisationId, email, firstName ?? null, lastName ?? null],
  )
  return made?.id ?? null
}

/** Gives an owner who has no password the one of INIT_OWNER_PASSWORD. Throws BootRefusal for one that is easy to guess. */
async function givePassword(em: EntityManager, { config: { init } }: Pick<Deps, 'config'>, organisationId: string): Promise<void> {
  if (init.ownerPassword === null || init.ownerEmail === null) return
  const [owner] = await em.execute<NewOwner[]>(
    `SELECT u.id, u.first_name AS "firstName", u.last_name AS "lastName", o.name AS organisation
       FROM users u JOIN organisations o ON o.id = u.organisation_id
      WHERE u.organisation_id = ? AND u.email = ? AND u.role = 'owner' AND u.status = 'active'
        AND NOT EXISTS (SELECT FROM user_passwords p WHERE p.user_id = u.id)`,
    [organisationId, init.ownerEmail],
  )
  if (owner === undefined) return
  await demandStrong(init.ownerPassword.reveal(), init.ownerEmail, owner)
  await em.execute('INSERT INTO user_passwords (id, organisation_id, user_id, password_hash) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING', [
    uuidv7(),
    organisationId,
    owner.id,
    await hashPassword(init.ownerPassword.reveal(), 'first owner'),
  ])
}

interface NewOwner {
  readonly id: string
  readonly firstName: string | null
  readonly lastName: string | null
  readonly organisation: string
}

async function demandStrong(password: string, email: string, { firstName, lastName, organisation }: NewOwner): Promise<void> {
  try {
    if (password.toLowerCase().includes(email)) throw new ApiError('AB01', 'A password must not hold the e-mail address.')
    await refuseWeakPassword(password, { email, organisation, names: [firstName, lastName] })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new BootRefusal(
      'weak_owner_password',
      `INIT_OWNER_PASSWORD cannot be used. ${error.message}`,
      'set another one, or leave it out and run "gatehouse owner link"',
    )
  }
}

/** The owner that INIT_OWNER_EMAIL names, for the first organisation, as long as that has none. */
export async function provisionOwner(
  em: EntityManager,
  { vault, config, log, level }: Pick<Deps, 'vault' | 'config' | 'log' | 'level'>,
): Promise<void> {
  const email = config.init.ownerEmail
  if (email === null) return
  const [first] = await em.execute<{ id: string }[]>(`SELECT id FROM organisations WHERE status = 'active' ORDER BY created_at, id LIMIT 1`)
  if (first === undefined) return
  const id = await makeFirstOwner(em, { organisationId: first.id, email })
  await givePassword(em, { config }, first.id)
  if (id === null) return
  log.info({ user: id }, 'the first owner was made')
  if (!isOn('AUDIT_LOGS_ENABLED', config, level)) return
  await writeAudit(em, vault, {
    actor: { type: 'system', id: null, name: 'INIT_OWNER_EMAIL', organisationId: first.id, userId: null },
    workspaceId: null,
    action: 'create',
    resourceType: 'user',
    resourceId: id,
    method: 'START',
    uri: 'INIT_OWNER_EMAIL',
    query: null,
    requestId: randomUUID(),
    clientAddress: 'start',
    status: 200,
    body: undefined,
    changes: [{ table: 'users', id, before: null, after: { email, role: 'owner' } }],
    at: Date.now(),
  })
}
