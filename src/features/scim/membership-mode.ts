import type { Deps } from '../../app/deps.ts'

/** Returns true if users say which groups they are in, and groups do not say who is in them: SCIM_MEMBERSHIP_USER_MODE, from release 1.10.0 on. */
export const isByUsers = ({ config, level }: Pick<Deps, 'config' | 'level'>): boolean =>
  config.scim.membershipByUsers && level.atLeast('1.10.0')
