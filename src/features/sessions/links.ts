import { randomBytes } from 'node:crypto'
import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { asSystem } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import { ownOrigin } from '../../app/own-origin.ts'
import type { Actor } from '../../app/route.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'
import { ApiError } from '../../lib/errors.ts'
import { OneTimeLink } from '../auth/one-time-link.entity.ts'
import { lockPeople } from './lock-people.ts'

const hourMs = 3_600_000
/** A link to a password goes by e-mail; one for an owner is handed on by hand. */
const lifeMs = { password: hourMs, setup: 24 * hourMs } as const
const pages = { password: 'reset-password', setup: 'setup' } as const

const hashToken = ({ vault }: Pick<Deps, 'vault'>, token: string): Buffer => vault.hashKey(`one-time-link:${token}`)

interface NewLink {
  readonly organisationId: string
  readonly userId: string | null
  readonly purpose: OneTimeLink['purpose']
  /** True for one that an operator hands on; it lives a day. */
  readonly byHand?: true
}

/**
 * Makes a link that serves once, and removes the earlier ones for the same purpose. The secret stands behind the #, which browsers send to no server.
 * A caller that makes one for a person locks the person first: no link outlives a person who is just being removed.
 */
export async function makeLink(
  em: EntityManager,
  deps: Pick<Deps, 'vault' | 'clock' | 'config'>,
  { organisationId, userId, purpose, byHand }: NewLink,
): Promise<{ readonly url: string; readonly token: string; readonly expiresAt: Date }> {
  for (const earlier of await em.find(OneTimeLink, { organisationId, userId, purpose })) em.remove(earlier)
  const token = randomBytes(32).toString('base64url')
  const expiresAt = new Date(deps.clock.now() + (byHand === true ? lifeMs.setup : lifeMs[purpose]))
  em.create(OneTimeLink, { organisationId, userId, purpose, tokenHash: hashToken(deps, token), expiresAt })
  await em.flush()
  return { url: `${ownOrigin(deps.config)}/console/${pages[purpose]}#token=${token}`, token, expiresAt }
}

/** One answer for every link that does not work. */
const invalid = () =>
  new ApiError('AB05', 'This link does not work: it was used or replaced, or its time is over. Ask for a new one.', { param: 'token' })

/** Returns the person who acts by a link; its validity is checked when it is used. */
export async function holderOf(deps: Deps, token: string, purposes: readonly OneTimeLink['purpose'][]): Promise<Actor> {
  const link = await asSystem(deps.orm, (em) =>
    em.findOne(OneTimeLink, { tokenHash: hashToken(deps, token), purpose: { $in: [...purposes] } }),
  )
  if (link === null) throw invalid()
  return {
    type: 'invite',
    id: link.id,
    name: 'one-time link',
    keyType: 'workspace-user',
    organisationId: link.organisationId,
    workspaceId: null,
    userId: link.userId ?? null,
    role: null,
    settings: effectiveSettings({}, {}),
    permissions: new Set(),
  }
}

/** Uses up the link by which a person acts, and locks the person. The second of two concurrent uses finds no link. */
export async function useLink(em: EntityManager, actor: Actor, { clock }: Pick<Deps, 'clock'>): Promise<OneTimeLink> {
  if (actor.userId !== null) await lockPeople(em, [actor.userId])
  const link = await em.findOne(OneTimeLink, { id: actor.id }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  if (link === null || link.expiresAt.getTime() <= clock.now()) throw invalid()
  em.remove(link)
  return link
}
