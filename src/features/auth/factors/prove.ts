import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { inTenant } from '../../../app/database/orm.ts'
import type { Deps } from '../../../app/deps.ts'
import { ApiError } from '../../../lib/errors.ts'
import { provePasskey, spendPasskey, type PasskeyProof } from './assertions.ts'
import { factorRequired, factorsOf, hasFactor } from './factors.ts'
import type { Assertion } from './passkey.schema.ts'
import { RecoveryCode } from './recovery-code.entity.ts'
import { findRecoveryCode } from './recovery-codes.ts'
import { isTotpCode, stepOf } from './totp.ts'
import { totpPlace, UserTotp } from './user-totp.entity.ts'

/** A second factor that was shown and is good, and has not been used up yet. */
export type Proof =
  | PasskeyProof
  | { readonly kind: 'totp'; readonly step: number }
  | { readonly kind: 'recovery-code'; readonly id: string }

/** A person whose password was right, with the second factor that they show beside it. */
export interface FactorProof {
  readonly userId: string
  readonly organisationId: string
  readonly code?: string | undefined
  readonly passkey?: Assertion | undefined
  /** The `Cookie` header of the browser. */
  readonly cookie: string | undefined
}

/**
 * Returns the second factor that a person has shown; null: they have none and need none. Throws `second_factor_required` when they have one and do
 * not show it, AB05 when the one that they show is not good.
 */
export async function prove(deps: Deps, showing: FactorProof): Promise<Proof | null> {
  const { userId, organisationId, passkey, code } = showing
  const factors = await inTenant(deps.orm, organisationId, (em) => factorsOf(em, userId))
  if (!hasFactor(factors)) return null
  if (passkey !== undefined) return provePasskey(deps, { ...showing, passkey, purpose: 'second-factor' })
  if (code === undefined) throw factorRequired(factors)
  return (await inTenant(deps.orm, organisationId, (em) => proveCode(em, deps, { userId, code: code.trim() }))) ?? wrong()
}

interface ShownCode {
  readonly userId: string
  readonly code: string
}

async function proveCode(em: EntityManager, deps: Deps, { userId, code }: ShownCode): Promise<Proof | null> {
  const digits = code.replaceAll(/\s/g, '')
  if (!isTotpCode(digits)) {
    const found = await findRecoveryCode(em, deps, { userId, code })
    return found && { kind: 'recovery-code', id: found.id }
  }
  const totp = await em.findOne(UserTotp, { userId, confirmedAt: { $ne: null } })
  const step = totp && stepOf(digits, await deps.vault.decrypt(totpPlace(totp), totp.secret), deps.clock.now())
  return totp === null || step === null || step <= totp.lastStep ? null : { kind: 'totp', step }
}

function wrong(): never {
  throw new ApiError('AB05', 'This code is wrong, was used before, or its time is over.', { param: 'code' })
}

interface Spending {
  readonly userId: string
  /** Null: none was needed. */
  readonly proof: Proof | null
}

/** Uses a second factor up, in the transaction of the action that it allows. AB05 for the second of two concurrent uses. */
export async function spend(em: EntityManager, deps: Pick<Deps, 'clock'>, { userId, proof }: Spending): Promise<void> {
  if (proof === null) return
  if (proof.kind === 'passkey') return spendPasskey(em, deps, proof)
  if (proof.kind === 'totp') return spendStep(em, userId, proof.step)
  const code = await em.findOne(RecoveryCode, { id: proof.id, userId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  if (code === null) wrong()
  em.remove(code)
  await em.flush()
}

/** Accepts a time step, and with it no earlier one any more. */
export async function spendStep(em: EntityManager, userId: string, step: number): Promise<void> {
  const rows = await em.execute<unknown[]>('UPDATE user_totps SET last_step = ? WHERE user_id = ? AND last_step < ? RETURNING id', [
    step,
    userId,
    step,
  ])
  if (rows.length === 0) wrong()
}
