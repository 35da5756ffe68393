import { mostStrangersBytes, route } from '../../../app/route.ts'
import { ApiError } from '../../../lib/errors.ts'
import { uuidv7 } from '../../../lib/uuid.ts'
import { Organisation } from '../../organisations/organisation.entity.ts'
import { lockPeople } from '../../sessions/index.ts'
import { User } from '../../users/user.entity.ts'
import { countOwnAttempt, demandOwnPassword } from '../own-password.ts'
import { firstRecoveryCodes, renewSession } from './changed.ts'
import { factorAdded, factorRemoved, reproofBody, totpConfirmBody, totpEnrolment } from './factor.schema.ts'
import { forgetUnusedCodes } from './factors.ts'
import { spendStep } from './prove.ts'
import { newTotpSecret, stepOf, totpUri } from './totp.ts'
import { totpPlace, UserTotp } from './user-totp.entity.ts'

const resource = 'second-factor'
const callers = ['session'] as const

/** How long an authenticator app may take to be set up. */
const enrolmentMs = 15 * 60_000

export const enrolTotp = route({
  method: 'POST',
  path: '/auth/totp',
  below: '/',
  summary: 'Begin to set up an authenticator app; its first code confirms it',
  permission: [],
  callers,
  resource,
  action: 'enrol',
  body: reproofBody,
  mostBytes: mostStrangersBytes,
  before: countOwnAttempt,
  response: totpEnrolment,
})(async ({ em, deps, actor, body, audit }) => {
  await demandOwnPassword(em, actor.id, body.current_password)
  const { id: userId, organisationId, email } = await em.findOneOrFail(User, { id: actor.id })
  const { name } = await em.findOneOrFail(Organisation, { id: organisationId })
  const known = await em.findOne(UserTotp, { userId })
  if (known !== null && known.confirmedAt !== null)
    throw new ApiError('AB07', 'You have an authenticator app. Remove it before you set up another: DELETE /auth/totp.')
  const [place, secret, createdAt] = [{ id: known?.id ?? uuidv7(), organisationId }, newTotpSecret(), new Date(deps.clock.now())]
  const sealed = Buffer.from(await deps.vault.encrypt(totpPlace(place), secret))
  if (known === null) em.create(UserTotp, { ...place, userId, secret: sealed, createdAt })
  else em.assign(known, { secret: sealed, createdAt })
  audit({ id: place.id })
  return {
    uri: totpUri(secret, { issuer: `Gatehouse ${name}`, email }),
    secret,
    expires_at: new Date(createdAt.getTime() + enrolmentMs).toISOString(),
  }
})

export const confirmTotp = route({
  method: 'POST',
  path: '/auth/totp/confirm',
  below: '/',
  summary: 'Confirm the authenticator app: from now on signing in asks for its code; all other sessions end',
  permission: [],
  callers,
  resource,
  action: 'add',
  body: totpConfirmBody,
  mostBytes: mostStrangersBytes,
  before: countOwnAttempt,
  response: factorAdded,
})(async (call) => {
  const { em, deps, actor, body, audit } = call
  const now = deps.clock.now()
  await lockPeople(em, [actor.id])
  const totp = await em.findOne(UserTotp, { userId: actor.id, confirmedAt: null })
  if (totp === null || totp.createdAt.getTime() + enrolmentMs <= now)
    throw new ApiError('AB08', 'No authenticator app is being set up, or its time is over. Begin again: POST /auth/totp.')
  const step = stepOf(body.code.replaceAll(/\s/g, ''), await deps.vault.decrypt(totpPlace(totp), totp.secret), now)
  if (step === null)
    throw new ApiError('AB03', 'This is not the code that the authenticator app shows now. See that its clock is right.', { param: 'code' })
  totp.confirmedAt = new Date(now)
  await em.flush()
  await spendStep(em, actor.id, step)
  audit({ id: totp.id })
  const recovery_codes = await firstRecoveryCodes(em, deps, actor.id)
  return { recovery_codes, ...(await renewSession(call)) }
})

export const removeTotp = route({
  method: 'DELETE',
  path: '/auth/totp',
  below: '/',
  summary: 'Remove your authenticator app; all other sessions end',
  permission: [],
  callers,
  resource,
  action: 'remove',
  body: reproofBody,
  mostBytes: mostStrangersBytes,
  before: countOwnAttempt,
  response: factorRemoved,
})(async (call) => {
  const { em, actor, body, audit } = call
  await demandOwnPassword(em, actor.id, body.current_password)
  const totp = await em.findOne(UserTotp, { userId: actor.id })
  if (totp === null) throw new ApiError('AB08', 'You have no authenticator app.')
  em.remove(totp)
  await forgetUnusedCodes(em, actor.id)
  audit({ id: totp.id })
  return renewSession(call)
})
