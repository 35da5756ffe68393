import { randomInt } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../../app/deps.ts'
import type { User } from '../../users/user.entity.ts'
import { RecoveryCode } from './recovery-code.entity.ts'

/** No letter that is taken for another. */
const letters = 'abcdefghjkmnpqrstuvwxyz23456789'
const [count, groups, length] = [10, 2, 6]

const newCode = (): string =>
  Array.from({ length: groups }, () => Array.from({ length }, () => letters[randomInt(letters.length)]).join('')).join('-')

/** Gives a person new recovery codes in place of all earlier ones, and returns them: they are never shown again. */
export async function replaceRecoveryCodes(
  em: EntityManager,
  deps: Pick<Deps, 'vault'>,
  { id: userId, organisationId }: Pick<User, 'id' | 'organisationId'>,
): Promise<readonly string[]> {
  await forgetRecoveryCodes(em, userId)
  const codes = Array.from({ length: count }, newCode)
  for (const code of codes) em.create(RecoveryCode, { organisationId, userId, codeHash: hashCode(deps, userId, code) })
  await em.flush()
  return codes
}

/** Takes the recovery codes of a person away, and returns how many. */
export async function forgetRecoveryCodes(em: EntityManager, userId: string): Promise<number> {
  const codes = await em.find(RecoveryCode, { userId })
  for (const code of codes) em.remove(code)
  return codes.length
}

/** Returns the recovery code that a text is, however it was typed; null: none of the person's. */
export const findRecoveryCode = (
  em: EntityManager,
  deps: Pick<Deps, 'vault'>,
  { userId, code }: { readonly userId: string; readonly code: string },
): Promise<RecoveryCode | null> => em.findOne(RecoveryCode, { userId, codeHash: hashCode(deps, userId, code) })

const hashCode = ({ vault }: Pick<Deps, 'vault'>, userId: string, code: string): Buffer =>
  vault.hashKey(`recovery-code:${userId}:${code.toLowerCase().replaceAll(/[\s-]/g, '')}`)
