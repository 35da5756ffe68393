import type { EntityManager } from '@mikro-orm/postgresql'
import type { RowChange } from '../../../app/audit/changes.ts'
import { demandRoomFor } from '../../../app/database/stored-bounds.ts'
import type { Deps } from '../../../app/deps.ts'
import { queueMail } from '../../../app/mail/outbox.ts'
import type { Actor } from '../../../app/route.ts'
import { rankOf } from '../../../lib/access/rank.ts'
import { isAtLeast, type OrganisationRole } from '../../../lib/access/roles.ts'
import { ApiError } from '../../../lib/errors.ts'
import { Organisation } from '../../organisations/organisation.entity.ts'
import { lockPeople } from '../../sessions/index.ts'
import { archiveUser, rankedRole } from '../../users/index.ts'
import { User } from '../../users/user.entity.ts'
import { demandOwnedAddress } from '../owned-domains.ts'
import { isLastOwner } from '../places.ts'
import { scimError } from '../scim-error.ts'
import { ScimUser } from '../scim-user.entity.ts'
import type { Document } from '../schema/normalise.ts'
import { isSeen, readUser, userTables, type UserRow } from './user-rows.ts'
import { isKnown, storeChanged, storeNew, type StoredUser } from './user-store.ts'
import { wantedUser, type WantedUser } from './wanted-user.ts'

/** A client that writes, with the services that the write needs. */
export interface Writer {
  readonly client: Actor
  readonly deps: Deps
}

/** A user as written. */
export interface UserWriteResult {
  /** As it is now, but for places that groups give and take. */
  readonly row: UserRow
  readonly changes: readonly RowChange[]
  /** True: which places the user's groups give may be another than before. */
  readonly settles: boolean
}

/** Stores a new user; one who is there by hand already becomes the identity provider's. Throws `uniqueness`. */
export async function addUser(em: EntityManager, writer: Writer, document: Document): Promise<UserWriteResult> {
  const { client, deps } = writer
  const { organisationId } = client
  const wanted = wantedUser(document)
  const own = await claim(em, organisationId, { wanted, id: null })
  if (own !== null) await lockPeople(em, [own])
  const there = own === null ? null : await readUser(em, organisationId, own)
  // A new person is in no group, and has no place.
  if (there === null) {
    await demandOwnedAddress(em, deps, { client, email: wanted.email })
    await demandRoomFor(em, deps.config.storedItems, { kind: 'users', organisationId })
    return { ...(await storeNew(em, organisationId, wanted)), settles: false }
  }
  return change(em, writer, { before: there, wanted })
}

/** Changes a user to the document. Throws `uniqueness`, and AB03 for the last owner. */
export async function changeUser(
  em: EntityManager,
  writer: Writer,
  { before, document }: { readonly before: UserRow; readonly document: Document },
): Promise<UserWriteResult> {
  const wanted = wantedUser(document)
  const isSameName = before.user_name === wanted.userName && before.email === wanted.email
  if (!isSameName || !isKnown(before)) await claim(em, writer.client.organisationId, { wanted, id: before.id })
  return change(em, writer, { before, wanted })
}

interface AddressChange {
  readonly client: Actor
  readonly before: UserRow
  readonly email: string
}

/** Notifies a person at their former address, since the new one may be another person's. */
async function tellFormerAddress(em: EntityManager, deps: Deps, { client, before, email }: AddressChange): Promise<void> {
  const { organisationId } = client
  const { name: organisation_name } = await em.findOneOrFail(Organisation, { id: organisationId })
  const changed_at = new Date(deps.clock.now()).toISOString().slice(0, 16).replace('T', ' ').concat(' UTC')
  const variables = { organisation_name, former_address: before.email, new_address: email, client_name: client.name ?? '', changed_at }
  await queueMail(em, deps, { organisationId, recipient: before.email, template: 'address-changed', variables })
}

interface UserChange {
  readonly before: UserRow
  readonly wanted: WantedUser
}

async function change(em: EntityManager, { client, deps }: Writer, { before, wanted }: UserChange): Promise<UserWriteResult> {
  demandBelow(client, changedFields(before, wanted), before.role)
  if (wanted.email !== before.email) {
    await demandOwnedAddress(em, deps, { client, email: wanted.email })
    if (before.status === 'active') await tellFormerAddress(em, deps, { client, before, email: wanted.email })
  }
  const stored = await storeChanged(em, before, wanted)
  const status = wanted.active === undefined ? before.status : wanted.active ? 'active' : 'archived'
  if (status === before.status) return { ...stored, settles: !isKnown(before) }
  return { ...(await changeStatus(em, stored, status)), settles: true }
}

/** Returns the attributes by which a write would change the identity of a person, and whether they are there. */
const changedFields = (before: UserRow, { email, firstName, lastName, active }: WantedUser): readonly string[] => [
  ...(email === before.email ? [] : ['emails']),
  ...(firstName === before.first_name && lastName === before.last_name ? [] : ['name']),
  ...(active === true && before.status === 'archived' ? ['active'] : []),
]

/**
 * Throws AB03 when a client would change the identity of a person that ranks above the maker of its token, or bring that person back. A person of any
 * rank can be removed: identity providers are relied upon for that.
 */
function demandBelow(client: Actor, fields: readonly string[], role: OrganisationRole): void {
  const [param] = fields
  if (param === undefined || isAtLeast(rankOf(client), rankedRole(role))) return
  throw new ApiError(
    'AB03',
    'This person ranks above the one that made the token of this client. An owner, signed in, makes a token for all.',
    {
      param,
    },
  )
}

async function changeStatus(em: EntityManager, { row, changes }: StoredUser, status: UserRow['status']): Promise<StoredUser> {
  const user = await em.findOneOrFail(User, { id: row.id })
  if (status === 'archived') await removeUser(em, user)
  else user.status = status
  await em.flush()
  return { row: { ...row, status }, changes }
}

/** Takes a user out of the organisation: out of its workspaces, with their API keys. Throws AB03 for the last owner. */
export async function removeUser(em: EntityManager, user: User): Promise<void> {
  if (await isLastOwner(em, user))
    throw new ApiError(
      'AB03',
      `${user.email} is the last owner of the organisation, which keeps one. Make another person an owner first.`,
      {
        param: 'active',
      },
    )
  await archiveUser(em, user)
}

/** Returns SCIM's facts about a user; for one who was added by hand they begin now. */
export async function adopt(em: EntityManager, { id, organisationId, email: userName }: User): Promise<ScimUser> {
  const known = await em.findOne(ScimUser, { id })
  return known ?? em.create(ScimUser, { id, organisationId, userName, attributes: {}, version: 1 })
}

interface Claim {
  readonly wanted: WantedUser
  /** The user who may have both already; null: a new one. */
  readonly id: string | null
}

/** A person with a name or an address that a user is to have. */
interface Holder {
  readonly id: string
  readonly known: boolean
  readonly seen: boolean
  readonly has_name: boolean
  readonly has_email: boolean
}

/** A person who came by hand goes by their address. */
const holders = `
  SELECT u.id, s.id IS NOT NULL AS known, ${isSeen} AS seen, lower(coalesce(s.user_name, u.email)) = lower(?) AS has_name,
         (u.email = ? AND u.status = 'active') AS has_email
    FROM ${userTables}
   WHERE u.organisation_id = ? AND (?::uuid IS NULL OR u.id <> ?::uuid)
     AND u.id IN (SELECT id FROM scim_users WHERE organisation_id = ? AND user_name_lower = lower(?)
                   UNION ALL SELECT id FROM users WHERE organisation_id = ? AND email IN (?, lower(?)) AND status = 'active')
   ORDER BY has_name DESC`

const forget = (em: EntityManager, organisationId: string, ids: readonly string[]): Promise<unknown> =>
  em.execute(`DELETE FROM scim_users WHERE organisation_id = ? AND id = ANY (string_to_array(?, ',')::uuid[])`, [
    organisationId,
    ids.join(','),
  ])

/**
 * Throws if another user whom the identity provider sees has the name or the address. Returns the id of a person who was added by hand and has the
 * address of a new user: they are the same person. A name is free if it belongs only to a removed person whose address is another person's by now.
 */
async function claim(em: EntityManager, organisationId: string, { wanted: { userName, email }, id }: Claim): Promise<string | null> {
  const values = [userName, email, organisationId, id, id, organisationId, userName, organisationId, email, userName]
  const found = await em.execute<Holder[]>(holders, values)
  const own = id === null ? found.find(({ known, has_email }) => !known && has_email) : undefined
  const taken = found.find((holder) => holder !== own && holder.seen && (holder.has_name || holder.has_email))
  if (taken !== undefined) {
    const [field, value] = taken.has_name ? ['userName', userName] : ['emails', email]
    throw scimError('uniqueness', `There is a user with the \`${field}\` ${value} already.`, field)
  }
  const gone = found.filter(({ known, seen, has_name }) => known && has_name && !seen).map((holder) => holder.id)
  if (gone.length > 0) await forget(em, organisationId, gone)
  return own?.id ?? null
}
