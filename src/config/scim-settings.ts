import { onOff, text } from './kinds.ts'
import { setting } from './setting.ts'

/** The settings of users and groups that an identity provider writes by SCIM. */
export const scimSettings = {
  SCIM_MEMBERSHIP_USER_MODE: setting(onOff, 'OFF', {
    desc: 'Who says which users are in a group of SCIM. `ON`: users do, by their attribute `groups`; operations on the members of groups are skipped. `OFF`: groups do.',
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
    desc: 'Whether a group such as `org-role-owner` makes its members owners of the organisation. Who may put people into groups can then make anybody an owner.',
    example: 'ON',
    since: '1.6.0',
  }),
}
