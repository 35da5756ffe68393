import { z } from 'zod'

/** The longest life of a session, in seconds. */
export const maxSessionTtlField = z
  .int()
  .min(900)
  .max(2_073_600)
  .nullable()
  .optional()
  .meta({ description: 'Seconds after which a person signs in anew, active or not. Never more than SESSION_LIFETIME.' })

/** The rule of an organisation for the sessions of its people. */
export const sessionSettingsField = z
  .strictObject({
    max_session_ttl: maxSessionTtlField,
    require_second_factor: z.boolean().nullable().optional().meta({
      description: 'On: people who sign in with a password have to set up a second factor before any other action. Off unless set.',
    }),
    allow_passwords_beside_provider: z.boolean().nullable().optional().meta({
      description:
        'On: people who sign in by the identity provider may have a password or a passkey here too, which outlives their place at the provider. Off unless set.',
    }),
  })
  .nullable()
  .optional()
  .meta({ description: 'The rules for the sessions of people who signed in.' })

/** Returns the longest life of a session in milliseconds, from the stored settings of an organisation; Infinity: it has no rule. */
export function longestSessionMs(settings: unknown): number {
  const seconds = field(field(settings, 'session_settings'), 'max_session_ttl')
  return typeof seconds === 'number' ? seconds * 1000 : Infinity
}

/** Returns true if people who sign in with a password need a second factor, by the stored settings of an organisation. */
export const requiresFactor = (settings: unknown): boolean => field(field(settings, 'session_settings'), 'require_second_factor') === true

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
