import { choice, duration, password } from './kinds.ts'
import { optional, setting } from './setting.ts'

/** The settings for people who sign in. */
export const signInSettings = {
  AUTH_MODE: setting(choice(['LOCAL', 'SSO'] as const), 'LOCAL', {
    desc: 'How people sign in: `LOCAL` with a password or, where an organisation has one, by its identity provider; `SSO` by identity providers alone.',
    example: 'SSO',
  }),
  INIT_OWNER_PASSWORD: optional(password, {
    desc: 'The password of `INIT_OWNER_EMAIL`, at least 12 characters; used as long as this owner has none.',
    example: 'the output of: openssl rand -base64 24',
    secret: true,
  }),
  SESSION_IDLE_TIMEOUT: setting(duration(300_000), '2h', {
    desc: 'The time without a request after which a person who signed in has to sign in again.',
    example: '30m',
  }),
  SESSION_LIFETIME: setting(duration(900_000), '12h', {
    desc: 'The time after which a person signs in again, active or not. An organisation may shorten it by `session_settings.max_session_ttl`.',
    example: '8h',
  }),
}
