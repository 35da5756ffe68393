import type { Feature } from '../app/feature.ts'
import { configsSecurity, dataVisibility, promptAccess } from './access-settings/index.ts'
import { alerts } from './alerts/index.ts'
import { limitList } from './limit-list/index.ts'
import { apiKeyExpiry, apiKeys, userApiKeyLimits, mcpInvokePermission } from './api-keys/index.ts'
import { auth } from './auth/index.ts'
import { audit } from './audit/index.ts'
import { batches } from './batches/index.ts'
import { breakers } from './breakers/index.ts'
import { cache } from './cache/index.ts'
import { collections } from './collections/index.ts'
import { configs } from './configs/index.ts'
import { explain } from './explain/index.ts'
import { events } from './events/index.ts'
import { feedback } from './feedback/index.ts'
import { guardrailKinds, guardrails } from './guardrails/index.ts'
import { integrations, tags } from './integrations/index.ts'
import { mcpIntegrations } from './mcp-integrations/index.ts'
import { mcpMetadata, mcpServers } from './mcp-servers/index.ts'
import { mcpSignIns } from './mcp-sign-ins/index.ts'
import { mcpConnections } from './mcp-connections/index.ts'
import { mcpTokens } from './mcp-tokens/index.ts'
import { labels } from './labels/index.ts'
import { analytics, groupedAnalytics, workspaceGroupedAnalytics } from './analytics/index.ts'
import { logExports } from './log-exports/index.ts'
import { logReplay } from './log-replay/index.ts'
import { logs } from './logs/index.ts'
import { organisations } from './organisations/index.ts'
import { costs } from './costs/index.ts'
import { modelConfigs } from './model-configs/index.ts'
import { parts } from './parts.ts'
import { plugins } from './plugins/index.ts'
import { policies } from './policies/index.ts'
import { policyEntities } from './policy-entities/index.ts'
import { prompts } from './prompts/index.ts'
import { providers } from './providers/index.ts'
import { responses } from './responses/index.ts'
import { rights } from './rights/index.ts'
import { scim, scimGroupMapping, scimUserMembership } from './scim/index.ts'
import { secretReferences } from './secret-references/index.ts'
import { savedFilters } from './saved-filters/index.ts'
import { sessions } from './sessions/index.ts'
import { multiOrganisationSso, oidcCustomScopes, sso, ssoAutoProvisioning } from './sso/index.ts'
import { traces } from './traces/index.ts'
import { jwtAuthentication, jwtScopes, tokenIntrospection } from './tokens/index.ts'
import { emailTemplates, users } from './users/index.ts'
import { virtualKeys } from './virtual-keys/index.ts'
import { workspaces } from './workspaces/index.ts'

/** The product's table of contents; each feature comes after those that it depends on. */
export const features: readonly Feature[] = [
  organisations,
  workspaces,
  apiKeys,
  userApiKeyLimits,
  apiKeyExpiry,
  alerts,
  users,
  emailTemplates,
  sessions,
  auth,
  rights,
  jwtAuthentication,
  jwtScopes,
  tokenIntrospection,
  configsSecurity,
  promptAccess,
  dataVisibility,
  secretReferences,
  integrations,
  modelConfigs,
  tags,
  providers,
  virtualKeys,
  mcpIntegrations,
  mcpTokens,
  mcpServers,
  mcpMetadata,
  mcpSignIns,
  mcpConnections,
  limitList,
  collections,
  labels,
  prompts,
  plugins,
  guardrails,
  ...guardrailKinds,
  configs,
  breakers,
  cache,
  responses,
  batches,
  policies,
  policyEntities,
  logs,
  traces,
  costs,
  explain,
  logReplay,
  feedback,
  analytics,
  workspaceGroupedAnalytics,
  groupedAnalytics,
  savedFilters,
  logExports,
  events,
  audit,
  mcpInvokePermission,
  scim,
  scimGroupMapping,
  scimUserMembership,
  sso,
  multiOrganisationSso,
  ssoAutoProvisioning,
  oidcCustomScopes,
  ...parts,
]
