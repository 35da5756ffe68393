import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { inTenant } from '../../../app/database/orm.ts'
import type { Deps } from '../../../app/deps.ts'
import { ApiError } from '../../../lib/errors.ts'
import { browserOf, takeChallenge } from './challenges.ts'
import { Passkey } from './passkey.entity.ts'
import type { Assertion } from './passkey.schema.ts'
import { challengeIn, verifyAssertion } from './webauthn.ts'

/** A passkey that was shown and is good, with its own facts. */
export interface PasskeyProof {
  readonly kind: 'passkey'
  readonly id: string
  readonly counter: number
  readonly backedUp: boolean
}

/** A person with the passkey that they show. */
export interface ShowingPasskey {
  readonly userId: string
  readonly organisationId: string
  readonly passkey: Assertion
  /** The `Cookie` header of the browser. */
  readonly cookie: string | undefined
  readonly purpose: 'sign-in' | 'second-factor'
}

/** Returns the passkey that a person shows. AB05 with one message for every fault. */
export async function provePasskey(
  deps: Deps,
  { userId, organisationId, passkey: shown, cookie, purpose }: ShowingPasskey,
): Promise<PasskeyProof> {
  const [holder, challenge] = [browserOf(deps, cookie), challengeIn(shown)]
  if (holder === null || challenge === null || !(await takeChallenge(deps, { purpose, holder, challenge }))) throw wrongPasskey()
  const credentialId = Buffer.from(shown.id, 'base64url')
  const passkey = await inTenant(deps.orm, organisationId, (em) => em.findOne(Passkey, { credentialId, userId }))
  if (passkey === null) throw wrongPasskey()
  try {
    return {
      kind: 'passkey',
      id: passkey.id,
      ...(await verifyAssertion(deps, shown, { passkey, challenge, alone: purpose === 'sign-in' })),
    }
  } catch (error) {
    deps.log.warn({ err: error, org: organisationId, user: userId, passkey: passkey.id }, 'a passkey was refused')
    throw wrongPasskey(error)
  }
}

/** Notes the use of a passkey. AB05 if its count has not risen: then there are two of it. */
export async function spendPasskey(
  em: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  { id, counter, backedUp }: PasskeyProof,
): Promise<void> {
  const passkey = await em.findOne(Passkey, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  const counts = passkey !== null && (passkey.counter > 0 || counter > 0)
  if (passkey === null || (counts && counter <= passkey.counter)) throw wrongPasskey()
  em.assign(passkey, { counter, backedUp, lastUsedAt: new Date(clock.now()) })
  await em.flush()
}

export const wrongPasskey = (cause?: unknown) =>
  new ApiError('AB05', 'This passkey is not known here, or its answer is not good. Begin again.', { param: 'passkey', cause })
