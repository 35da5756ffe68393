import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { z } from 'zod'
import { ApiError } from './errors.ts'
import { createTurns } from './shares/turns.ts'
import { secretField } from './json/secret-fields.ts'

const derive = promisify(argon2)

/** The least that OWASP asks of argon2id: 19 MiB, two passes. `memory` is in KiB. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const
const saltBytes = 16
const hashBytes = 32

/** The fewest characters of a password. Length is all that is asked: rules about kinds of characters make passwords worse. */
export const minPasswordLength = 12

/** A new password. */
export const newPasswordField = secretField(z.string().min(minPasswordLength).max(256)).meta({
  description: `At least ${minPasswordLength} characters; a sentence is a good one.`,
})

/**
 * One hash at a time, each of which takes a processor for tens of milliseconds, so that the other processors stay free for requests. The networks
 * from which people sign in, and the people themselves, take turns.
 */
const inTurn = createTurns({
  most: 1,
  mostOfOne: 1,
  mostWaiting: 16,
  mostWaitingOfAll: 500,
  tooMany: () => new ApiError('AB06', 'Too many passwords wait to be looked at. Try again shortly.', { param: 'password', retryAfter: 2 }),
})

/** Returns the argon2id hash of a password, in the PHC string format. Throws AB06 when too many wait. */
export async function hashPassword(password: string, owner: string): Promise<string> {
  const salt = randomBytes(saltBytes)
  const hash = await inTurn(owner, () => tagOf(password, { salt, ...cost, length: hashBytes }))
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${phc(salt)}$${phc(hash)}`
}

/**
 * Returns true for the password with this hash. Null, for a person without a password, takes the same time and is never true. Throws AB06 when too
 * many wait.
 */
export async function isPassword(password: string, stored: string | null, owner: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt, hash] =
    /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(stored ?? nobody) ?? []
  if (salt === undefined || hash === undefined) throw new Error('a stored password has no hash that is known')
  const wanted = Buffer.from(hash, 'base64')
  const parameters = {
    salt: Buffer.from(salt, 'base64'),
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    length: wanted.length,
  }
  const given = await inTurn(owner, () => tagOf(password, parameters))
  return timingSafeEqual(given, wanted) && stored !== null
}

interface Parameters {
  readonly salt: Uint8Array
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
  readonly length: number
}

/** One text has one password, however a keyboard composes its letters. */
const tagOf = (password: string, { salt, memory, passes, parallelism, length }: Parameters): Promise<Buffer> =>
  derive('argon2id', { message: password.normalize('NFKC'), nonce: salt, memory, passes, parallelism, tagLength: length })

const phc = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replaceAll('=', '')

/** A hash that no password has, with the cost of a real one. */
const nobody = `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${phc(new Uint8Array(saltBytes))}$${phc(new Uint8Array(hashBytes))}`
