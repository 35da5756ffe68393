import type { Deps } from '../../app/deps.ts'

/** Returns true if users state their groups, and groups do not state their members: SCIM_MEMBERSHIP_USER_MODE, from release 1.10.0 on. */
export const isByUsers = ({ config, level }: Pick<Deps, 'config' | 'level'>): boolean =>
  config.scim.membershipByUsers && level.atLeast('1.10.0')
