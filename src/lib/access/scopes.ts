const crudl = ['create', 'read', 'update', 'delete', 'list'] as const

const expand = (table: Readonly<Record<string, readonly string[]>>): readonly string[] =>
  Object.entries(table).flatMap(([resource, verbs]) => verbs.map((verb) => `${resource}.${verb}`))

/** Scopes on a whole organisation. Only organisation keys hold them. */
const organisation = {
  organisation_users: crudl,
  organisation_service_api_keys: [...crudl, 'rotate'],
  organisation_settings: ['read', 'update'],
  organisation_guardrails: crudl,
  organisation_exclusions: ['list', 'update'],
  organisation_integrations: crudl,
  organisation_mcp_integrations: crudl,
  organisation_agent_integrations: crudl,
  audit_logs: ['list'],
  plugins: ['create', 'update', 'list'],
  deployments: crudl,
}

const apiKeys = {
  workspace_service_api_keys: [...crudl, 'rotate'],
  workspace_user_api_keys: [...crudl, 'rotate'],
}

/** Scopes that organisation keys hold for every workspace, and workspace keys for their own. */
const shared = {
  secret_references: crudl,
  workspaces: crudl,
  workspace_users: crudl,
  workspace_integrations: crudl,
  workspace_mcp_integrations: crudl,
  workspace_agent_integrations: crudl,
  prompts: [...crudl, 'publish'],
  configs: crudl,
  guardrails: crudl,
  virtual_keys: [...crudl, 'duplicate', 'copy'],
  providers: crudl,
  policies: crudl,
  agent_servers: crudl,
  mcp_servers: crudl,
  analytics: ['view'],
  logs: ['export', 'list', 'view'],
}

/** Scopes that call models. Only workspace keys hold them. */
const dataPlane = {
  completions: ['read', 'write'],
  prompts: ['render'],
  mcp: ['invoke'],
  agents: ['invoke'],
  guardrails: ['invoke'],
  logs: ['read', 'write'],
  feedbacks: ['read', 'write'],
}

/** The scopes that a release brought. */
const brought: readonly { readonly since: string; readonly scopes: readonly string[] }[] = [
  { since: '1.3.2', scopes: ['mcp.invoke'] },
  { since: '1.5.0', scopes: expand({ policies: crudl }) },
  { since: '1.8.0', scopes: expand({ deployments: crudl }) },
  { since: '1.12.0', scopes: expand({ secret_references: crudl }) },
]

/** The releases of the scopes that were not always there. */
export const scopeReleases: Readonly<Record<string, string>> = Object.fromEntries(
  brought.flatMap(({ since, scopes }) => scopes.map((scope) => [scope, since])),
)

/** Every scope that an organisation (admin) key can hold. */
export const organisationScopes = [...expand(organisation), ...expand(apiKeys), ...expand(shared)]

/** Every scope that a workspace service key can hold. */
export const workspaceScopes = [...expand(apiKeys), ...expand(shared), ...expand(dataPlane)]

/** Every scope that a user's key can hold: a workspace key's without those that manage keys. */
export const userScopes = [...expand(shared), ...expand(dataPlane)]

const ofOrganisation: ReadonlySet<string> = new Set(expand(organisation))

/** Returns true for a scope on the organisation itself, which no caller has in a workspace. */
export const isOrganisationScope = (scope: string): boolean => ofOrganisation.has(scope)

const everyScope = [...new Set([...organisationScopes, ...workspaceScopes])]

/** Every scope that a person can have by their roles, without an API key: those on the organisation have its owners and admins. */
export const personScopes = (role: 'owner' | 'admin' | 'member'): readonly string[] => (role === 'member' ? workspaceScopes : everyScope)

const usable: ReadonlySet<string> = new Set(expand(dataPlane))
const readable: ReadonlySet<string> = new Set([...usable, ...workspaceScopes.filter((scope) => /\.(?:read|list)$/.test(scope))])

/** Every scope that a JSON Web Token can hold: those for calling models and, when it `reads`, those for reading and listing in its workspace. */
export const tokenScopes = (reads: boolean): ReadonlySet<string> => (reads ? readable : usable)
