import { z } from 'zod'
import { since } from '../../release/since.ts'

/** The setting of an organisation by which a group lets removed users return. */
export const groupBasedProvisioningField = since(
  '1.6.0',
  z.boolean().nullable().optional().meta({
    description:
      'Whether a removed user returns when the identity provider puts them into a group. Null: no, only when it makes them active.',
  }),
)

const stored = z.object({ group_based_user_provisioning: z.boolean() })

/** Returns whether the stored settings of an organisation turn on provisioning by groups. */
export const groupBasedProvisioning = (settings: unknown): boolean =>
  stored.safeParse(settings).data?.group_based_user_provisioning ?? false
