import type { AccessSetting, AccessSettings } from './access-settings.ts'

export const organisationRoles = ['owner', 'admin', 'member'] as const
export type OrganisationRole = (typeof organisationRoles)[number]

export const workspaceRoles = ['admin', 'manager', 'member'] as const
export type WorkspaceRole = (typeof workspaceRoles)[number]

/** A person's role in a workspace. Owners and admins of the organisation act as admins in every workspace. */
export type Role = 'owner' | 'organisation-admin' | WorkspaceRole

/** Higher is more. A person cannot give a role above their own. */
const ranks: Readonly<Record<Role, number>> = { owner: 5, 'organisation-admin': 4, admin: 3, manager: 2, member: 1 }

/** Returns true if `role` ranks as high as `other` or higher. */
export const isAtLeast = (role: Role, other: Role): boolean => ranks[role] >= ranks[other]

/** The effective role in a workspace; null for a person who is no member. */
export function roleIn(organisation: OrganisationRole, workspace: WorkspaceRole | null): Role | null {
  if (organisation === 'member') return workspace
  return organisation === 'owner' ? 'owner' : 'organisation-admin'
}

/** Always, never, or while a setting is on, or one of several. */
export type Grant = boolean | AccessSetting | readonly AccessSetting[]

interface Grants {
  /** `read`, `list`, `view`. */
  readonly view: Grant
  /** Everything else. */
  readonly write: Grant
}

const all: Grants = { view: true, write: true }
const viewOnly: Grants = { view: true, write: false }
const nothing: Grants = { view: false, write: false }

/** The rights of managers and members on each resource. For a resource without a row, the scope alone decides. */
const rules: Readonly<Record<string, { readonly manager: Grants; readonly member: Grants }>> = {
  workspaces: { manager: all, member: viewOnly },
  workspace_users: { manager: all, member: viewOnly },
  workspace_service_api_keys: { manager: { view: 'managersViewApiKeys', write: 'managersManageApiKeys' }, member: nothing },
  workspace_user_api_keys: {
    manager: { view: 'managersViewApiKeys', write: 'managersManageApiKeys' },
    member: { view: 'membersViewApiKeys', write: 'membersManageApiKeys' },
  },
  workspace_integrations: { manager: { view: true, write: 'managersWriteWsIntegrations' }, member: viewOnly },
  workspace_mcp_integrations: { manager: { view: true, write: 'managersWriteWsMcpIntegrations' }, member: viewOnly },
  workspace_agent_integrations: { manager: all, member: viewOnly },
  prompts: {
    manager: { view: 'managersViewPrompts', write: 'managersWritePrompts' },
    member: { view: 'membersViewPrompts', write: 'membersWritePrompts' },
  },
  configs: {
    manager: { view: 'managersViewConfigs', write: 'managersWriteConfigs' },
    member: { view: 'membersViewConfigs', write: 'membersWriteConfigs' },
  },
  guardrails: {
    manager: { view: 'managersViewGuardrails', write: 'managersWriteGuardrails' },
    member: { view: 'membersViewGuardrails', write: false },
  },
  virtual_keys: { manager: all, member: viewOnly },
  providers: { manager: all, member: viewOnly },
  policies: { manager: all, member: viewOnly },
  agent_servers: { manager: all, member: viewOnly },
  mcp_servers: { manager: { view: true, write: 'managersWriteMcpServers' }, member: viewOnly },
  analytics: { manager: { view: 'managersViewAnalytics', write: false }, member: { view: 'membersViewAnalytics', write: false } },
  logs: { manager: { view: 'managersViewLogs', write: 'managersViewLogs' }, member: { view: 'membersViewLogs', write: false } },
}

/** Calling models, and the scopes that such calls need: open to every holder of the scope under any rule of the resource. */
const use: ReadonlySet<string> = new Set(['prompts.render', 'guardrails.invoke', 'logs.read', 'logs.write'])

/** Only for owners and admins of the organisation. */
const organisationOnly: ReadonlySet<string> = new Set(['workspaces.create', 'workspaces.delete'])
const organisationOnlyResources: ReadonlySet<string> = new Set(['secret_references'])

const viewVerbs: ReadonlySet<string> = new Set(['read', 'list', 'view'])

/** Returns whether a scope only looks, changes something, or is used in calls of models. */
export function scopeKind(scope: string): 'view' | 'write' | 'use' {
  const [resource = '', verb = ''] = scope.split('.')
  if (use.has(scope) || usedResources.has(resource)) return 'use'
  return viewVerbs.has(verb) ? 'view' : 'write'
}

const usedResources: ReadonlySet<string> = new Set(['completions', 'feedbacks', 'mcp', 'agents'])

const logsOfOrganisationAdmins = (verb: string): Grant =>
  verb === 'list' ? ['organisationAdminsViewLogs', 'organisationAdminsViewLogMetadata'] : 'organisationAdminsViewLogs'

/** Returns whether a role is granted a scope: always, never, or while one of the named settings is on. */
export function grantOf(role: Role, scope: string): Grant {
  const [resource = '', verb = ''] = scope.split('.')
  if (role === 'owner' || use.has(scope)) return true
  if (role === 'organisation-admin') return resource === 'logs' ? logsOfOrganisationAdmins(verb) : true
  if (organisationOnly.has(scope) || organisationOnlyResources.has(resource)) return false
  if (role === 'admin') return true
  const rule = rules[resource]
  if (rule === undefined) return true
  return rule[role][viewVerbs.has(verb) ? 'view' : 'write']
}

/** The scopes of a person's credential that count: those that their role, and the settings for it, leave. */
export function scopesOfRole(scopes: Iterable<string>, role: Role | null, settings: AccessSettings): ReadonlySet<string> {
  if (role === null) return new Set()
  return new Set(
    [...scopes].filter((scope) => {
      const grant = grantOf(role, scope)
      return typeof grant === 'boolean' ? grant : [grant].flat().some((name) => settings[name])
    }),
  )
}

/** Returns true if a role sees only the logs and analytics of its own API keys. */
export function seesOwnDataOnly(role: Role | null, settings: AccessSettings): boolean {
  if (role === 'manager') return !settings.managersViewAllData
  return role === 'member' && !settings.membersViewAllData
}

/** Returns true if a role sees only by itself what was asked and spent: it sees no data of others, or neither logs nor analytics. */
export function seesOwnFiguresOnly(role: Role | null, settings: AccessSettings): boolean {
  const { managersViewLogs, managersViewAnalytics, membersViewLogs, membersViewAnalytics } = settings
  if (seesOwnDataOnly(role, settings)) return true
  if (role === 'manager') return !managersViewLogs && !managersViewAnalytics
  return role === 'member' && !membersViewLogs && !membersViewAnalytics
}

/** Returns true if a role sees the keys of other people. */
export const seesKeysOfOthers = (role: Role | null, { managersViewApiKeys }: AccessSettings): boolean =>
  role === 'manager' ? managersViewApiKeys : role !== 'member'
