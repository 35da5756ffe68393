/** The text at the head of the description, in Markdown. */
export const introduction = `An AI gateway and its control plane, on one origin.

- **gateway** calls models: OpenAI's, Anthropic's and Google's formats, and every other path of a provider.
- All other groups are the **control plane**: what is stored, who may use it, what was used.

**Sign in** with \`x-service-api-key\` or \`Authorization: Bearer\`, or with the session of a person. A workspace key calls models; an
organisation key administers.

**First steps.** Store a provider with \`POST /integrations\` (\`slug\`: \`openai-prod\`, \`ai_provider_id\`: \`openai\`, \`key\`: yours), then call
it with the model \`@openai-prod/gpt-4o-mini\`. The examples of the gateway name providers that are stored so: \`@openai-prod\`,
\`@anthropic-prod\`, \`@cohere-prod\`.

**Errors** have the shape of \`Error\`: a code, a message, the field, and the request's id. **Guides** on each topic are in \`docs/\` of the
release; start with \`docs/README.md\`.`

/** The subject of each group of operations. */
export const groups: Readonly<Record<string, string>> = {
  gateway: 'Call models of all providers, in the format of your client.',
  organisations: 'The organisation: its settings and its demands on all workspaces.',
  workspaces: 'Workspaces and their members.',
  'api-keys': 'Keys of organisations, workspaces and people: scopes, limits, rotation.',
  alerts: 'Budget alerts and the webhooks that receive them.',
  users: 'People and invitations.',
  auth: 'Passwords, second factors, passkeys and sessions.',
  rights: 'Scopes, roles and settings: the rights of people and keys, and their reasons.',
  'token-introspection': 'Ask whether a token counts (RFC 7662).',
  'secret-references': 'Secrets that stay in your secret manager.',
  integrations: 'Provider accounts, their models and the workspaces that may use them.',
  'model-catalog': 'Models, their prices and abilities.',
  'mcp-integrations': 'Servers of MCP, how one signs in there, and the workspaces that may use them.',
  'mcp-connections': 'The sign-ins of people at MCP servers, which Gatehouse then calls as them.',
  'mcp-sign-ins': 'The programs that people let use MCP servers as themselves.',
  'mcp-servers': 'The MCP servers that a workspace calls, and the rights on each of their tools.',
  'mcp-metadata': 'The facts about MCP servers, as syncs found them.',
  providers: 'The providers that a workspace calls by `@slug`.',
  'virtual-keys': 'Provider keys stored for one workspace.',
  'limit-list': 'All limits with their usage.',
  collections: 'Folders of prompts.',
  labels: 'Labels of prompt versions.',
  prompts: 'Prompt templates, their versions and partials.',
  plugins: 'Credentials of guardrail partners.',
  guardrails: 'Checks of requests and answers.',
  configs: 'Routing, retries, caching and guardrails of requests.',
  breakers: 'Circuit breakers that are open now.',
  cache: 'Cached answers.',
  policies: 'Rate and usage limits for requests that meet conditions.',
  'policy-entities': 'The values that a policy groups by, and the usage of each.',
  logs: 'Logs of requests.',
  traces: 'Requests and spans that belong together.',
  costs: 'The cost of one request, line by line, and corrections.',
  explain: 'The request for each target, without a call.',
  'log-replay': 'Send a logged request again.',
  feedback: 'Scores for requests.',
  analytics: 'Figures of requests, costs, tokens and latency over time.',
  'workspace-grouped-analytics': 'Figures by workspace.',
  'grouped-analytics': 'Figures by one of eight fields.',
  'saved-filters': 'Filters of logs and analytics.',
  'log-exports': 'Logs as files.',
  events: 'What happens, as a stream.',
  audit: 'The audit trail and its proof.',
  scim: 'Provisioning of people and groups by SCIM.',
  'scim-group-mapping': 'The workspaces that SCIM groups lead to.',
  sso: 'Sign-on by OpenID Connect and SAML.',
  'multi-organisation-sso': 'The callbacks of further organisations.',
}
