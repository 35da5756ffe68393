import { onOff, text } from './kinds.ts'
import { setting } from './setting.ts'

/** The settings of users and groups that an identity provider writes by SCIM. */
export const scimSettings = {
  SCIM_MEMBERSHIP_USER_MODE: setting(onOff, 'OFF', {
    desc: 'Where the members of a group of SCIM are stated. `ON`: in the attribute `groups` of users; operations on the members of groups are skipped. `OFF`: in groups.',
    example: 'ON',
    since: '1.10.0',
  }),
  SCIM_GROUP_PREFIX: setting(text(64), 'ws', {
    desc: 'The beginning of names of groups that give roles in workspaces, as in `ws-Sales-role-admin`.',
    example: 'gatehouse',
    since: '1.6.0',
  }),
  SCIM_GROUP_SEPARATOR: setting(text(16), '-', {
    desc: 'The separator in names of groups that give roles, as in `ws-Sales-role-admin`.',
    example: '_',
    since: '1.6.0',
  }),
  SCIM_ORGANISATION_PREFIX: setting(text(64), 'org', {
    desc: 'The beginning of names of groups that give roles in the organisation, as in `org-role-admin`.',
    example: 'gatehouse-org',
    since: '1.6.0',
  }),
  SCIM_OWNER_GROUPS: setting(onOff, 'OFF', {
    desc: 'Whether a group such as `org-role-owner` makes its members owners of the organisation. A person who may put people into groups can then make any of them an owner.',
    example: 'ON',
    since: '1.6.0',
  }),
}
