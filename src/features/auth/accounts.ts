import { asSystem } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import { ApiError } from '../../lib/errors.ts'
import { isPassword } from '../../lib/password.ts'
import { boundToProvider, isBound } from './of-provider.ts'

/** A person who may sign in here. */
export interface Account {
  readonly userId: string
  readonly organisationId: string
  readonly email: string
  /** Null: none was set. */
  readonly hash: string | null
  /** True for a person whom their identity provider alone lets in. */
  readonly isBound: boolean
}

/** One e-mail address may have an account in so many organisations that are tried without being named. */
const maxAccounts = 8

const find = `
  SELECT u.id AS "userId", u.organisation_id AS "organisationId", u.email, p.password_hash AS hash, (${isBound}) AS "isBound"
    FROM users u
    JOIN organisations o ON o.id = u.organisation_id AND o.status = 'active' AND (?::text IS NULL OR o.slug = ?)
    LEFT JOIN user_passwords p ON p.user_id = u.id
   WHERE u.email = ? AND u.status = 'active'
   ORDER BY o.created_at, o.id LIMIT ${maxAccounts}`

interface ShownCredentials {
  /** The address in lower case. */
  readonly email: string
  readonly password: string
  /** The slug of an organisation; absent: whichever fits. */
  readonly organisation?: string | undefined
  /** The network from which it is shown. */
  readonly network: string
}

/**
 * Returns the account that a password opens. AB05 with one message for every other case, after the same work: an address without an account costs as
 * much as one with an account. AB03 for the right password of a person whom their identity provider alone lets in.
 */
export async function accountOf(deps: Deps, { email, password, organisation, network }: ShownCredentials): Promise<Account> {
  const slug = organisation ?? null
  const accounts = await asSystem(deps.orm, (em) => em.execute<Account[]>(find, [slug, slug, email]))
  const hashes = accounts.length === 0 ? [null] : accounts.map(({ hash }) => hash)
  const opened = await Promise.all(hashes.map((hash) => isPassword(password, hash, network)))
  const account = accounts[opened.indexOf(true)]
  if (account === undefined) throw wrongPassword()
  // Only a person who has shown the password learns that it does not serve.
  if (account.isBound) throw boundToProvider()
  return account
}

/** Returns the one refusal of a sign-in by a password, for every cause. */
export const wrongPassword = (): ApiError => new ApiError('AB05', 'E-mail or password is wrong.', { param: 'email' })

/** Returns the accounts of an address that may have a password. */
export const accountsOf = (deps: Deps, email: string): Promise<readonly Account[]> =>
  asSystem(deps.orm, (em) => em.execute<Account[]>(find, [null, null, email]))
