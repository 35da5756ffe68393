import { duration } from './kinds.ts'
import { setting } from './setting.ts'

/** The settings for people who sign in. */
export const signInSettings = {
  SESSION_IDLE_TIMEOUT: setting(duration(300_000), '2h', {
    desc: 'The time without a request after which a person who signed in has to sign in again.',
    example: '30m',
  }),
  SESSION_LIFETIME: setting(duration(900_000), '12h', {
    desc: 'The time after which a person signs in again, whatever they do. An organisation may shorten it by `session_settings.max_session_ttl`.',
    example: '8h',
  }),
}
