import { feature } from '../../app/feature.ts'
import { asSystem } from '../../app/database/orm.ts'
import { pruneChallenges } from './factors/challenges.ts'
import {
  addPasskey,
  beginPasskey,
  beginPasskeyLogin,
  listPasskeys,
  loginByPasskey,
  removePasskey,
  renamePasskey,
} from './factors/passkeys.routes.ts'
import { Passkey } from './factors/passkey.entity.ts'
import { RecoveryCode } from './factors/recovery-code.entity.ts'
import { makeRecoveryCodes, resetFactors } from './factors/recovery.routes.ts'
import { confirmTotp, enrolTotp, removeTotp } from './factors/totp.routes.ts'
import { UserTotp } from './factors/user-totp.entity.ts'
import { login, logout, showLogin } from './login.routes.ts'
import { readMe } from './me.routes.ts'
import { OneTimeLink } from './one-time-link.entity.ts'
import { prunePace } from './pace.ts'
import { changePassword, resetPassword, setPasswordByLink } from './password.routes.ts'
import { endOtherSessions, endSession, endSessionsOfUser, listSessions } from './sessions.routes.ts'
import { readPreferences, setPreferences } from './preferences.routes.ts'
import { readSetup, setUp } from './setup.routes.ts'
import { UserPreferences } from './user-preferences.entity.ts'
import { UserPassword } from './user-password.entity.ts'

export { createdOrganisation, createOrganisation, createPeopleLink, createSetupLink, setupLink } from './operator.ts'
export { signIn } from './sign-in.ts'

/** Signing in and out, and the self-service of people's own accounts. */
export const auth = feature({
  id: 'auth',
  since: '1.3.0',
  requires: ['sessions'],
  permissions: ['organisation_users.update'],
  entities: [UserPassword, UserPreferences, OneTimeLink, UserTotp, RecoveryCode, Passkey],
  routes: [
    showLogin,
    login,
    logout,
    readMe,
    readPreferences,
    setPreferences,
    listSessions,
    endOtherSessions,
    endSession,
    endSessionsOfUser,
    changePassword,
    setPasswordByLink,
    resetPassword,
    readSetup,
    setUp,
    enrolTotp,
    confirmTotp,
    removeTotp,
    makeRecoveryCodes,
    resetFactors,
    listPasskeys,
    beginPasskey,
    addPasskey,
    beginPasskeyLogin,
    loginByPasskey,
    renamePasskey,
    removePasskey,
  ],
  jobs: [
    {
      name: 'prune-sign-in-pace',
      every: '41 * * * *',
      irreversible: true,
      run: ({ orm, clock }) => asSystem(orm, (em) => prunePace(em, clock.now())),
    },
    {
      name: 'prune-passkey-challenges',
      every: '43 * * * *',
      irreversible: true,
      run: ({ orm, clock }) => asSystem(orm, (em) => pruneChallenges(em, clock.now())),
    },
  ],
})
