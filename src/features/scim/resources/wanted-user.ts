import { z } from 'zod'
import { scimError } from '../scim-error.ts'
import { isObject, type Document } from '../schema/normalise.ts'
import { storedAttributes } from './user-rows.ts'

/** A user as a client asks for one. */
export interface WantedUser {
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
export function wantedUser(document: Document): WantedUser {
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

/** The primary address, or else the first one, or else the name of the user if that is one: providers differ in the fields that they send. */
function emailOf(emails: unknown, userName: string): string {
  const given = (Array.isArray(emails) ? emails : []).filter(isObject)
  const chosen = given.find(({ primary }) => primary === true) ?? given[0]
  const found = [chosen?.['value'], userName].find((text) => email.safeParse(text).success)
  if (typeof found === 'string') return found.toLowerCase()
  throw scimError('invalidValue', 'A user needs an e-mail address: send one in `emails`, or as `userName`.', 'emails')
}
