import { asSystem } from '../../app/database/orm.ts'
import { feature } from '../../app/feature.ts'
import { IdentityProvider, putProvider, readProvider, testProvider } from '../identity-providers/index.ts'
import { backchannelLogout, loginByOidc, returnByOidc, returnToOrganisation } from './oidc.routes.ts'
import { createTestSignIn, readTestSignIn } from './trial/test-sign-in.routes.ts'
import { TestSignIn } from './trial/test-sign-in.entity.ts'
import { pruneTests, testLifeMs } from './trial/trial.ts'
import { loginBySaml, returnBySaml, samlMetadata } from './saml/saml.routes.ts'

/** People who sign in by the identity provider of their organisation. */
export const sso = feature({
  id: 'sso',
  since: '1.3.0',
  requires: ['auth'],
  permissions: ['organisation_settings.read', 'organisation_settings.update'],
  entities: [IdentityProvider, TestSignIn],
  routes: [
    readProvider,
    putProvider,
    testProvider,
    createTestSignIn,
    readTestSignIn,
    returnByOidc,
    backchannelLogout,
    loginByOidc,
    loginBySaml,
    returnBySaml,
    samlMetadata,
  ],
  jobs: [
    {
      name: 'prune-used-sign-ins',
      every: '37 * * * *',
      irreversible: true,
      run: ({ orm, clock }) =>
        asSystem(orm, async (em) => void (await em.execute('DELETE FROM used_sign_ins WHERE expires_at <= ?', [new Date(clock.now())]))),
    },
    {
      name: 'prune-test-sign-ins',
      every: '39 * * * *',
      irreversible: true,
      run: ({ orm, clock }) => asSystem(orm, async (em) => void (await em.execute(pruneTests, [new Date(clock.now() - testLifeMs)]))),
    },
  ],
})

/** Further organisations have identity providers too. */
export const multiOrganisationSso = feature({
  id: 'multi-organisation-sso',
  since: '1.3.2',
  requires: ['sso'],
  permissions: [],
  entities: [],
  routes: [returnToOrganisation],
})

/** People become members when they first sign in. */
export const ssoAutoProvisioning = feature({
  id: 'sso-auto-provisioning',
  since: '1.7.0',
  // No organisation has to be named for it.
  changes: ['1.7.1'],
  requires: ['sso'],
  permissions: [],
  entities: [],
  routes: [],
})

/** The scopes that are asked for can be chosen. */
export const oidcCustomScopes = feature({
  id: 'oidc-custom-scopes',
  since: '1.11.1',
  requires: ['sso'],
  permissions: [],
  entities: [],
  routes: [],
})
