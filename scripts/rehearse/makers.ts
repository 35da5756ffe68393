import type { Maker } from './maker.ts'
import { alerts } from './makers/alerts.ts'
import { apiKeys } from './makers/api-keys.ts'
import { audit } from './makers/audit.ts'
import {
  analytics,
  feedback,
  groupedAnalytics,
  logs,
  responses,
  logExports,
  savedFilters,
  traces,
  workspaceGroupedAnalytics,
} from './makers/gateway.ts'
import { guardrailKind, guardrails, partnerKind, plugins } from './makers/guardrails.ts'
import { breakers, cache, collections, configs, costs, eventStreams, explain, labels, logReplay, modelConfigs } from './makers/library.ts'
import { limitList, policies, policyEntities } from './makers/policies.ts'
import { prompts } from './makers/prompts.ts'
import { integrations, providers, virtualKeys } from './makers/providers.ts'
import { auth, organisations, rights, setting, users, workspaces } from './makers/tenancy.ts'
import { scim, scimGroupMapping } from './makers/scim.ts'
import { mcpConnections, mcpIntegrations, mcpMetadata, mcpServers, mcpSignIns, mcpTokens } from './makers/mcp.ts'
import { secrets } from './makers/secrets.ts'
import { multiOrganisationSso, oidcCustomScopes, sso, ssoAutoProvisioning } from './makers/sso.ts'
import { jwtAuthentication, tokenIntrospection } from './makers/tokens.ts'

/** For features that have neither routes nor settings of their own: their effect shows in the data of others. */
export const withoutData: Maker = async () => {}

/** The makers of the data of each feature, by its id. A feature that is missing here cannot be rehearsed, and fails the rehearsal. */
export const makers: Readonly<Record<string, Maker>> = {
  organisations,
  workspaces,
  'api-keys': apiKeys,
  'user-api-key-limits': setting({ max_user_api_keys: 1000 }),
  'api-key-expiry': withoutData,
  alerts,
  'limit-list': limitList,
  users,
  'email-templates': withoutData,
  // No session lasts over an upgrade that long, and a session has a row like any other.
  sessions: withoutData,
  auth,
  rights,
  'analytics-access': withoutData,
  'health-service-identifier': withoutData,
  'hosted-provider': withoutData,
  'model-catalog': modelConfigs,
  'model-pricing-sources': withoutData,
  'mcp-invoke-permission': withoutData,
  'provider-beta-option': withoutData,
  responses,
  // A batch has ended, or goes on in the next release: its lines are requests like any other.
  batches: withoutData,
  'ptu-cost-attribution': withoutData,
  'retention-display': withoutData,
  'workspace-grouped-analytics': workspaceGroupedAnalytics,
  'secret-references': secrets,
  'provider-service-auth': withoutData,
  'provider-region': withoutData,
  'api-key-periodic-reset': withoutData,
  'budget-auto-reactivation': withoutData,
  'usage-limits': withoutData,
  'usage-periodic-reset-days': withoutData,
  'workspace-budget-reset': withoutData,
  'workload-identity-auth': withoutData,
  'workload-identity-log-store': withoutData,
  deployments: withoutData,
  'jwt-authentication': jwtAuthentication,
  'jwt-scopes': withoutData,
  'token-introspection': tokenIntrospection,
  'configs-security': setting({ membersWriteConfigs: true }),
  'prompt-access': setting({ membersWritePrompts: true }),
  'data-visibility': setting({ membersViewAllData: false }),
  integrations,
  tags: withoutData,
  'mcp-integrations': mcpIntegrations,
  'mcp-servers': mcpServers,
  'mcp-metadata': mcpMetadata,
  'mcp-sign-ins': mcpSignIns,
  'mcp-tokens': mcpTokens,
  'mcp-connections': mcpConnections,
  providers,
  'virtual-keys': virtualKeys,
  breakers,
  cache,
  events: eventStreams,
  explain,
  'log-replay': logReplay,
  costs,
  collections,
  labels,
  prompts,
  plugins,
  guardrails,
  'guardrail-add-prefix': guardrailKind('default.addPrefix', { prefix: 'Be brief: ' }),
  'guardrail-allowed-request-types': guardrailKind('default.allowedRequestTypes', { allowedTypes: ['chatComplete'] }),
  'guardrail-partner-backend': partnerKind('f5-guardrails.scan', () => ({ credentials: { apiKey: 'key-of-a-project' } })),
  'plugin-providers': partnerKind('walledai.walledprotect', () => ({ credentials: { apiKey: 'key-of-a-plugin' } })),
  'guardrail-partner-redaction': partnerKind('crowdstrike-aidr.guardChatCompletions', (baseUrl) => ({
    redact: true,
    credentials: { apiKey: 'key-of-a-guard', baseUrl },
  })),
  'guardrail-partner-scanner': partnerKind('zscaler.zscalerprotect', () => ({
    policyId: '42',
    credentials: { zscalerApiKey: 'key-of-a-scanner' },
  })),
  'guardrail-request-parameters': guardrailKind('default.requestParametersCheck', { params: { blockedKeys: ['logit_bias'] } }),
  configs,
  policies,
  'policy-entities': policyEntities,
  logs,
  traces,
  analytics,
  'grouped-analytics': groupedAnalytics,
  feedback,
  'saved-filters': savedFilters,
  'log-exports': logExports,
  audit,
  scim,
  'scim-group-mapping': scimGroupMapping,
  'scim-user-membership': withoutData,
  sso,
  'multi-organisation-sso': multiOrganisationSso,
  'sso-auto-provisioning': ssoAutoProvisioning,
  'oidc-custom-scopes': oidcCustomScopes,
}
