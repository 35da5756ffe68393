import type { TokenHolder } from '../../gateway/ports.ts'
import { isAtLeast, roleIn, type OrganisationRole, type Role, type WorkspaceRole } from '../../lib/access/roles.ts'

/** A user whom a token may mean. */
export interface Candidate {
  readonly id: string
  readonly status: 'active' | 'archived'
  readonly organisationRole: OrganisationRole
  readonly workspaceRole: WorkspaceRole | null
  /** Identity at the issuer of the token; null until a token of theirs was used. */
  readonly subject: string | null
}

/** Claims of a token about its holder, and the users that they match. */
export interface TokenMatches {
  /** The subject of the token; null: people are found by e-mail address alone. */
  readonly subject: string | null
  readonly email: string | null
  readonly byEmail: Candidate | null
  readonly bySubject: Candidate | null
  /** The rank of the caller who set the issuer: its tokens serve no person above. */
  readonly rank: Role
}

/** The person behind a token. */
export interface Person {
  readonly person: TokenHolder['person']
  /** Why the token is refused although it is good; null: it is not. */
  readonly conflict: string | null
  /** The user whom the token's subject is to stand for from now on. */
  readonly link: string | null
}

const nobody: Person = { person: null, conflict: null, link: null }

/**
 * Finds the holder of a token. The e-mail address finds a user once; from then on the issuer's subject must stay the same, since an address can be
 * given to another person.
 */
export function personOf({ rank, ...found }: TokenMatches): Person {
  const told = matching(found)
  const { person } = told
  if (person === null || person.role === null || isAtLeast(rank, person.role)) return told
  // No subject becomes that person's by the word of an issuer which may not speak for them.
  return { ...told, person: { ...person, isAbove: true }, link: null }
}

function matching({ subject, email, byEmail, bySubject }: Omit<TokenMatches, 'rank'>): Person {
  if (byEmail === null) return subject === null || bySubject === null ? nobody : knownBySubject(bySubject, email)
  if (subject === null || byEmail.status === 'archived') return of(byEmail)
  if (byEmail.subject !== null && byEmail.subject !== subject) return conflict(`${email} is known by another sub`)
  if (bySubject?.status === 'active' && bySubject.id !== byEmail.id) return conflict(`its sub is known as another user than ${email}`)
  return { ...of(byEmail), link: byEmail.subject === null ? byEmail.id : null }
}

function knownBySubject(user: Candidate, email: string | null): Person {
  if (email === null || user.status === 'archived') return of(user)
  return conflict(`its sub is known as a user with another address than ${email}`)
}

const conflict = (why: string): Person => ({ ...nobody, conflict: why })

const of = ({ id, status, organisationRole, workspaceRole }: Candidate): Person => ({
  ...nobody,
  person: { userId: id, role: roleIn(organisationRole, workspaceRole), removed: status !== 'active', isAbove: false },
})
