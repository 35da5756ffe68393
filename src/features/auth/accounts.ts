import { asSystem } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import { ApiError } from '../../lib/errors.ts'
import { isPassword } from '../../lib/password.ts'
import { isBound } from './of-provider.ts'

/** A person who may sign in here. */
export interface Account {
  readonly userId: string
  readonly organisationId: string
  readonly email: string
  /** Null: none was set. */
  readonly hash: string | null
  /** True for a person whom their identity provider alone lets in. */
  readonly isBound: boolean
  /** True if no other organisation has an account of this address. */
  readonly isOnly: boolean
}

/** One e-mail address may have an account in so many organisations that are tried without being named. */
const maxAccounts = 8

const find = `
  SELECT * FROM (
    SELECT u.id AS "userId", u.organisation_id AS "organisationId", u.email, p.password_hash AS hash, (${isBound}) AS "isBound",
           count(*) OVER () = 1 AS "isOnly", o.slug, o.created_at AS since
      FROM users u
      JOIN organisations o ON o.id = u.organisation_id AND o.status = 'active'
      LEFT JOIN user_passwords p ON p.user_id = u.id
     WHERE u.email = ? AND u.status = 'active') a
   WHERE ?::text IS NULL OR slug = ?
   ORDER BY since, "organisationId" LIMIT ${maxAccounts}`

interface ShownPassword {
  readonly password: string
  /** The network from which it is shown. */
  readonly network: string
}

/** Returns the one of several accounts that a password opens; null: none, after the same work, also where there is no account. */
export async function openedAccount(accounts: readonly Account[], { password, network }: ShownPassword): Promise<Account | null> {
  const hashes = accounts.length === 0 ? [null] : accounts.map(({ hash }) => hash)
  const opened = await Promise.all(hashes.map((hash) => isPassword(password, hash, network)))
  return accounts[opened.indexOf(true)] ?? null
}

/** Returns the one refusal of a sign-in by a password, for every cause. */
export const wrongPassword = (): ApiError => new ApiError('AB05', 'E-mail or password is wrong.', { param: 'email' })

/** Returns the accounts of an address, in lower case, that may have a password: of the organisation of a slug, or of all. */
export const accountsOf = (deps: Deps, email: string, slug: string | null = null): Promise<readonly Account[]> =>
  asSystem(deps.orm, (em) => em.execute<Account[]>(find, [email, slug, slug]))
