import { randomBytes } from 'node:crypto'
import { notFound } from '../../../app/database/find.ts'
import { inTenant } from '../../../app/database/orm.ts'
import type { Deps } from '../../../app/deps.ts'
import { ownOrigin } from '../../../app/own-origin.ts'
import { route, type Actor } from '../../../app/route.ts'
import { ApiError } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/is-uuid.ts'
import { loginPathOf, servingProvider, standingOf } from '../../identity-providers/index.ts'
import { TestSignIn } from './test-sign-in.entity.ts'
import { testSignInMade, testSignInParams, testSignInView } from './test-sign-in.schema.ts'
import { makeTest, presentTest } from './trial.ts'

const path = '/admin/organisation/sso/test-sign-ins'

export const createTestSignIn = route({
  method: 'POST',
  path,
  summary: 'Begin a sign-in that shows its claims and their effects, and makes no changes',
  permission: 'organisation_settings.update',
  audience: 'organisation',
  resource: 'test-sign-in',
  action: 'create',
  before: ({ actor }, deps) => loginUrlOf(deps, actor),
  response: testSignInMade,
})(async ({ em, actor: { organisationId }, deps, found, audit }) => {
  const token = randomBytes(32).toString('base64url')
  const row = await makeTest(em, deps, { organisationId, token })
  audit({ id: row.id })
  return { ...(await presentTest(deps, row)), url: `${found}?test=${token}` }
})

export const readTestSignIn = route({
  method: 'GET',
  path: `${path}/:testSignInId`,
  summary: 'Read the outcome of a test sign-in',
  permission: 'organisation_settings.update',
  audience: 'organisation',
  params: testSignInParams,
  response: testSignInView,
})(async ({ em, actor: { organisationId }, deps, params }) => {
  const id = params.testSignInId.toLowerCase()
  const row = isUuid(id) ? await em.findOne(TestSignIn, { id, organisationId }) : null
  if (row === null) throw notFound('test sign-in', params.testSignInId, 'testSignInId')
  return presentTest(deps, row)
})

/** A provider that is still off can be tested: that is when it matters most. */
async function loginUrlOf(deps: Deps, { organisationId }: Actor): Promise<string> {
  const standing = await standingOf(deps, { id: organisationId })
  const provider = standing && (await inTenant(deps.orm, organisationId, (em) => servingProvider(em, deps, { ...standing, alsoOff: true })))
  if (!standing || !provider) throw new ApiError('AB08', 'The organisation has no identity provider.')
  return `${ownOrigin(deps.config)}${loginPathOf(standing, provider.type)}`
}
