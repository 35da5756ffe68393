import { randomBytes } from 'node:crypto'
import type { Vault } from '../../app/secrets/vault.ts'
import { isSameText } from '../../lib/text/same-text.ts'

type Hashing = Pick<Vault, 'hashKey'>

/** The secret of a session: 32 random bytes and the mark by which we know our own, both in base64url, with a point between them. */
export function newSecret(vault: Hashing): string {
  const random = randomBytes(32).toString('base64url')
  return `${random}.${markOf(vault, random)}`
}

/** Returns true for a secret that this installation has made, so that the database is not asked for made-up ones. */
export function isOwnSecret(vault: Hashing, secret: string): boolean {
  const [, random, mark] = /^([\w-]{43})\.([\w-]{22})$/.exec(secret) ?? []
  return random !== undefined && mark !== undefined && isSameText(mark, markOf(vault, random))
}

const markOf = (vault: Hashing, random: string): string => vault.hashKey(`session-mark:${random}`).subarray(0, 16).toString('base64url')

/** Returns a secret as the database stores it. */
export const hashSecret = (vault: Hashing, secret: string): Buffer => vault.hashKey(`session:${secret}`)

/** Returns the token that a page shows beside the cookie. A site that can only send the cookie, and not read answers, does not have it. */
export const csrfToken = (vault: Hashing, secret: string): string => vault.hashKey(`csrf:${secret}`).toString('base64url')

export const isCsrfToken = (vault: Hashing, secret: string, sent: string): boolean => isSameText(sent, csrfToken(vault, secret))
