import { mostStrangersBytes, route } from '../../../app/route.ts'
import { ApiError } from '../../../lib/errors.ts'
import { revokeSessionsOf } from '../../sessions/index.ts'
import { findUser, rankedRole, userParams } from '../../users/index.ts'
import { User } from '../../users/user.entity.ts'
import { demandRank } from '../../workspaces/index.ts'
import { countOwnAttempt, demandOwnPassword } from '../own-password.ts'
import { factorsView, newRecoveryCodes, reproofBody } from './factor.schema.ts'
import { factorsOf, forgetFactors, hasFactor } from './factors.ts'
import { replaceRecoveryCodes } from './recovery-codes.ts'

export const makeRecoveryCodes = route({
  method: 'POST',
  path: '/auth/recovery-codes',
  below: '/',
  summary: 'Make new recovery codes; earlier ones serve no longer',
  permission: [],
  callers: ['session'],
  resource: 'second-factor',
  action: 'make-codes',
  body: reproofBody,
  mostBytes: mostStrangersBytes,
  before: countOwnAttempt,
  response: newRecoveryCodes,
})(async ({ em, deps, actor, body, audit }) => {
  await demandOwnPassword(em, actor.id, body.current_password)
  if (!hasFactor(await factorsOf(em, actor.id)))
    throw new ApiError('AB01', 'Recovery codes stand in for a second factor, and you have none yet.', { param: 'current_password' })
  audit({ id: actor.id })
  return { recovery_codes: [...(await replaceRecoveryCodes(em, deps, await em.findOneOrFail(User, { id: actor.id })))] }
})

export const resetFactors = route({
  method: 'DELETE',
  path: '/admin/users/:userId/second-factors',
  summary: 'Take the second factors of a user who lost them away, and sign the user out everywhere',
  permission: 'organisation_users.update',
  resource: 'user',
  action: 'reset-second-factors',
  params: userParams,
  response: factorsView,
})(async ({ em, actor, params, audit }) => {
  const user = await findUser(em, actor, { id: params.userId, lock: true })
  if (user.id === actor.userId)
    throw new ApiError('AB03', 'Remove your own second factors with your password: DELETE /auth/totp, DELETE /auth/passkeys/{passkeyId}.')
  demandRank(actor, rankedRole(user.role), 'userId')
  const { totp, passkeys, recoveryCodes } = await forgetFactors(em, user.id)
  await revokeSessionsOf(em, user.id)
  audit({ id: user.id })
  return { totp, passkeys, recovery_codes: recoveryCodes }
})
