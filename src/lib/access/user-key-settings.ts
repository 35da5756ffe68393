import { z } from 'zod'

const dayCount = (description: string, most = 3650) => z.int().min(1).max(most).nullable().optional().meta({ description })

/** The rules of an organisation for its users' API keys. A workspace may override them. Null: no rule. */
export const userKeyFields = {
  user_api_key_ttl: dayCount('Days that a user key lives when its maker gives no expiry.'),
  user_api_key_max_ttl: dayCount('The most days that a user key may live, from when it is made.'),
  user_api_key_rotation_period: dayCount('Days after which a user key is refused unless it was rotated.', 365),
  max_user_api_keys: z
    .int()
    .min(0)
    .max(1_000_000)
    .nullable()
    .optional()
    .meta({ description: 'How many live user keys a workspace may have.' }),
}

/** The category under which a workspace overrides them. */
export const userKeyCategory = 'user_api_keys'

export type UserKeySettings = Readonly<Record<keyof typeof userKeyFields, number | null>>

/** The effective settings, from the stored values of an organisation and a workspace. */
export function userKeySettings(organisation: unknown, overrides: unknown): UserKeySettings {
  const value = (name: keyof typeof userKeyFields): number | null => {
    const found = [field(field(overrides, userKeyCategory), name), field(organisation, name)].find((stored) => typeof stored === 'number')
    return typeof found === 'number' ? found : null
  }
  return {
    user_api_key_ttl: value('user_api_key_ttl'),
    user_api_key_max_ttl: value('user_api_key_max_ttl'),
    user_api_key_rotation_period: value('user_api_key_rotation_period'),
    max_user_api_keys: value('max_user_api_keys'),
  }
}

const dayMs = 24 * 60 * 60 * 1000

/** Returns the end of use of a secret made at a given time, in epoch milliseconds; null: no setting asks for rotation. */
export const rotationDue = ({ user_api_key_rotation_period: days }: UserKeySettings, secretFromMs: number): number | null =>
  days === null ? null : secretFromMs + days * dayMs

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
