import { z } from 'zod'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../../app/deps.ts'
import { ApiError } from '../../../lib/errors.ts'
import { archiveUser } from '../../users/index.ts'
import { User } from '../../users/user.entity.ts'
import { isLastOwner } from '../places.ts'
import { scimError } from '../scim-error.ts'
import { ScimUser } from '../scim-user.entity.ts'
import { isObject, type Document } from '../schema/normalise.ts'
import { isSeen, storedAttributes, userTables } from './user-rows.ts'

/** A user as a client asks for one. */
interface Wanted {
  readonly userName: string
  readonly email: string
  readonly externalId: string | null
  readonly firstName: string | null
  readonly lastName: string | null
  /** Undefined: as it is. */
  readonly active: boolean | undefined
  readonly attributes: Document
}

const longest = { userName: 320, name: 255 }

/** Reads a document of the schema as a user. Throws `invalidValue`. */
function wantedBy(document: Document): Wanted {
  const userName = typeof document['userName'] === 'string' ? document['userName'].trim() : ''
  if (userName === '') throw scimError('invalidValue', '`userName` is missing.', 'userName')
  if (userName.length > longest.userName)
    throw scimError('invalidValue', `\`userName\` is longer than ${longest.userName} characters.`, 'userName')
  const name = isObject(document['name']) ? document['name'] : {}
  return {
    userName,
    email: emailOf(document['emails'], userName),
    externalId: typeof document['externalId'] === 'string' ? document['externalId'] : null,
    firstName: namePart(name, 'givenName'),
    lastName: namePart(name, 'familyName'),
    active: typeof document['active'] === 'boolean' ? document['active'] : undefined,
    attributes: storedAttributes(document),
  }
}

function namePart(name: Readonly<Record<string, unknown>>, part: string): string | null {
  const value = name[part]
  if (typeof value !== 'string' || value.trim() === '') return null
  if (value.length > longest.name)
    throw scimError('invalidValue', `\`name.${part}\` is longer than ${longest.name} characters.`, `name.${part}`)
  return value
}

const email = z.email().max(320)

/** The primary address, or else the first one, or else the name of the user if that is one: providers differ in what they send. */
function emailOf(emails: unknown, userName: string): string {
  const given = (Array.isArray(emails) ? emails : []).filter(isObject)
  const chosen = given.find(({ primary }) => primary === true) ?? given[0]
  const found = [chosen?.['value'], userName].find((text) => email.safeParse(text).success)
  if (typeof found === 'string') return found.toLowerCase()
  throw scimError('invalidValue', 'A user needs an e-mail address: send one in `emails`, or as `userName`.', 'emails')
}

interface Writing {
  readonly organisationId: string
  readonly deps: Deps
}

/** Stores a new user; one who is there by hand already becomes the identity provider's. Throws `uniqueness`. */
export async function addUser(em: EntityManager, { organisationId, deps }: Writing, document: Document): Promise<User> {
  const wanted = wantedBy(document)
  await demandFree(em, organisationId, { wanted, id: null })
  await forgetRemoved(em, organisationId, { wanted, id: null })
  const { email: address, firstName, lastName } = wanted
  const there = await em.findOne(User, { organisationId, email: address, status: 'active' })
  const user =
    there ?? em.create(User, { organisationId, email: address, role: 'member', status: wanted.active === false ? 'archived' : 'active' })
  Object.assign(user, { firstName, lastName })
  await em.flush()
  const { userName, externalId, attributes } = wanted
  em.create(ScimUser, { id: user.id, organisationId, userName, externalId, attributes, version: 1 })
  if (there !== null && wanted.active === false) await removeUser(em, user, deps)
  await em.flush()
  return user
}

/** Changes a user to what the document says. Throws `uniqueness`, and AB03 for the last owner. */
export async function changeUser(
  em: EntityManager,
  { organisationId, deps }: Writing,
  change: { readonly id: string; readonly document: Document },
) {
  const { id, document } = change
  const wanted = wantedBy(document)
  await demandFree(em, organisationId, { wanted, id })
  await forgetRemoved(em, organisationId, { wanted, id })
  const user = await em.findOneOrFail(User, { id })
  const known = await adopt(em, user)
  const { userName, externalId, attributes, firstName, lastName } = wanted
  Object.assign(known, { userName, externalId, attributes, version: known.version + 1 })
  Object.assign(user, { email: wanted.email, firstName, lastName })
  await em.flush()
  if (wanted.active === false && user.status === 'active') await removeUser(em, user, deps)
  if (wanted.active === true && user.status === 'archived') user.status = 'active'
  await em.flush()
  return user
}

/** Returns what SCIM knows of a user; of who came by hand it begins to know now. */
export async function adopt(em: EntityManager, { id, organisationId, email: userName }: User): Promise<ScimUser> {
  const known = await em.findOne(ScimUser, { id })
  return known ?? em.create(ScimUser, { id, organisationId, userName, attributes: {}, version: 1 })
}

/** Takes a user out of the organisation: out of its workspaces, with their API keys. Throws AB03 for the last owner. */
export async function removeUser(em: EntityManager, user: User, _deps: Deps): Promise<void> {
  if (await isLastOwner(em, user))
    throw new ApiError('AB03', `${user.email} is the last owner of the organisation, which keeps one. Make somebody else an owner first.`, {
      param: 'active',
    })
  await archiveUser(em, user)
}

interface Claim {
  readonly wanted: Wanted
  /** The user who may have both already. */
  readonly id: string | null
}

/** Throws if another user whom the identity provider sees has the name, or another one of its own has the address. */
async function demandFree(em: EntityManager, organisationId: string, { wanted, id }: Claim): Promise<void> {
  const [taken] = await em.execute<{ field: string }[]>(
    `SELECT CASE WHEN lower(coalesce(s.user_name, u.email)) = lower(?) THEN 'userName' ELSE 'emails' END AS field
       FROM ${userTables}
      WHERE u.organisation_id = ? AND (?::uuid IS NULL OR u.id <> ?::uuid) AND ${isSeen}
        AND u.id IN (SELECT id FROM scim_users WHERE organisation_id = ? AND user_name_lower = lower(?)
                      UNION ALL SELECT id FROM users WHERE organisation_id = ? AND email IN (?, lower(?)) AND status = 'active')
        AND (?::uuid IS NOT NULL OR s.id IS NOT NULL OR u.email <> ?)
      LIMIT 1`,
    [
      wanted.userName,
      organisationId,
      id,
      id,
      organisationId,
      wanted.userName,
      organisationId,
      wanted.email,
      wanted.userName,
      id,
      wanted.email,
    ],
  )
  if (taken === undefined) return
  const value = taken.field === 'userName' ? wanted.userName : wanted.email
  throw scimError('uniqueness', `There is a user with the \`${taken.field}\` ${value} already.`, taken.field)
}

/** A name that only somebody has who was removed, and whose address is another person's by now, is free. */
async function forgetRemoved(em: EntityManager, organisationId: string, { wanted, id }: Claim): Promise<void> {
  await em.execute(
    'DELETE FROM scim_users WHERE organisation_id = ? AND user_name_lower = lower(?) AND (?::uuid IS NULL OR id <> ?::uuid)',
    [organisationId, wanted.userName, id, id],
  )
}
