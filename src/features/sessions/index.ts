import { feature } from '../../app/feature.ts'
import { Session } from './session.entity.ts'
import { sessionAuthenticator } from './session.authenticator.ts'
import { pruneSessions } from './sessions.jobs.ts'

export { cookieOf, cookieText, endedCookie, secretOf, uniqueCookie } from './cookie.ts'
export { demandNoForeignOrigin, isForeign } from './origin.ts'
export { holderOf, makeLink, useLink } from './links.ts'
export { lockPeople } from './lock-people.ts'
export { Session } from './session.entity.ts'
export { sessionAuthenticator } from './session.authenticator.ts'
export {
  csrfTokenOf,
  needsFactor,
  openSession,
  revokePresented,
  revokeProviderSessions,
  revokeSession,
  revokeSessionsOf,
  rotateSession,
  sessionsOfProvider,
  type SignIn,
} from './sessions.ts'

/** People who signed in, and act by the cookie of their browser. */
export const sessions = feature({
  id: 'sessions',
  since: '1.3.0',
  requires: ['users'],
  permissions: [],
  entities: [Session],
  routes: [],
  jobs: [pruneSessions],
  authenticators: [sessionAuthenticator],
})
