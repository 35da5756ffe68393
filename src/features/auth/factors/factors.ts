import type { EntityManager } from '@mikro-orm/postgresql'
import { ApiError } from '../../../lib/errors.ts'
import { Passkey } from './passkey.entity.ts'
import { RecoveryCode } from './recovery-code.entity.ts'
import { forgetRecoveryCodes } from './recovery-codes.ts'
import { UserTotp } from './user-totp.entity.ts'

/** The second factors of a person. */
export interface Factors {
  readonly totp: boolean
  readonly passkeys: number
  /** How many are left. */
  readonly recoveryCodes: number
}

export const factorsOf = async (em: EntityManager, userId: string): Promise<Factors> => ({
  totp: (await em.count(UserTotp, { userId, confirmedAt: { $ne: null } })) > 0,
  passkeys: await em.count(Passkey, { userId }),
  recoveryCodes: await em.count(RecoveryCode, { userId }),
})

/** Returns true if a password alone does not let the person in. */
export const hasFactor = ({ totp, passkeys }: Pick<Factors, 'totp' | 'passkeys'>): boolean => totp || passkeys > 0

/** Returns the error that asks a person, whose password was right, for one of their second factors. */
export function factorRequired({ totp, passkeys, recoveryCodes }: Factors): ApiError {
  const methods = [...(totp ? ['totp'] : []), ...(passkeys > 0 ? ['passkey'] : []), ...(recoveryCodes > 0 ? ['recovery_code'] : [])]
  return new ApiError('second_factor_required', 'The password is right. Send a second factor with it.', {
    param: totp || recoveryCodes > 0 ? 'code' : 'passkey',
    details: { methods },
  })
}

/** Removes all second factors of a person, and returns them. */
export async function forgetFactors(em: EntityManager, userId: string): Promise<Factors> {
  const before = await factorsOf(em, userId)
  for (const row of await em.find(UserTotp, { userId })) em.remove(row)
  for (const row of await em.find(Passkey, { userId })) em.remove(row)
  await forgetRecoveryCodes(em, userId)
  await em.flush()
  return before
}

/** Recovery codes stand in for second factors: without one there are none. */
export async function forgetUnusedCodes(em: EntityManager, userId: string): Promise<void> {
  await em.flush()
  if (hasFactor(await factorsOf(em, userId))) return
  await forgetRecoveryCodes(em, userId)
  await em.flush()
}
