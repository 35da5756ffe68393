import { scopeKind } from './roles.ts'

/** Scopes that are often given together. */
export interface ScopePreset {
  readonly id: string
  readonly title: string
  readonly description: string
  /** Returns true for a scope of it; a key has those that its type can have. */
  readonly has: (scope: string) => boolean
}

const ofResources =
  (...resources: readonly string[]) =>
  (scope: string): boolean =>
    resources.includes(scope.slice(0, scope.indexOf('.')))

const called: ReadonlySet<string> = new Set([
  'completions.read',
  'completions.write',
  'prompts.render',
  'guardrails.invoke',
  'mcp.invoke',
  'agents.invoke',
  'logs.write',
  'feedbacks.write',
])
const seen: ReadonlySet<string> = new Set(['logs.list', 'logs.view', 'analytics.view'])
const written = ofResources('configs', 'prompts', 'guardrails')
const managed = ofResources(
  'organisation_users',
  'workspace_users',
  'workspaces',
  'organisation_service_api_keys',
  'workspace_service_api_keys',
  'workspace_user_api_keys',
)

/** The presets, the narrowest first. */
export const scopePresets: readonly ScopePreset[] = [
  {
    id: 'call-models',
    title: 'Call models',
    description: 'An application: it calls models, renders prompts, and gives feedback.',
    has: (scope) => called.has(scope),
  },
  { id: 'observe', title: 'Observe', description: 'A dashboard: it reads logs and analytics.', has: (scope) => seen.has(scope) },
  {
    id: 'read-only',
    title: 'Read only',
    description: 'It reads and lists everything, and cannot write.',
    has: (scope) => scopeKind(scope) === 'view',
  },
  {
    id: 'deliver',
    title: 'Deliver configs and prompts',
    description: 'A pipeline: it writes configs, prompts and guardrails.',
    has: (scope) => written(scope) && scopeKind(scope) !== 'use',
  },
  { id: 'manage-access', title: 'Manage access', description: 'It manages people, workspaces and API keys.', has: managed },
  { id: 'everything', title: 'Everything', description: 'All that the type of the key can have.', has: () => true },
]
