import { inlineUrls } from '../../gateway/ports/checks.ts'
import { configsWithin, type GatewayConfig } from '../../gateway/ports/configs.ts'
import type { Egress } from '../../gateway/ports/egress.ts'
import { pathText } from '../../lib/json/json-path.ts'
import { guardrailFields } from './secrets.ts'

const urlFields = ['custom_host', 'azure_foundry_url', 'huggingface_base_url']

/** Lets the egress guard look at every URL of a config, those within it included. Throws `blocked_host` naming the field. */
export async function checkUrls(config: GatewayConfig, egress: Egress, path = 'config'): Promise<void> {
  for (const [field, url] of [...urlsOf(config), ...checkUrlsOf(config)]) await egress.origin(url, `${path}.${field}`)
  for (const [at, inner] of configsWithin(config)) await checkUrls(inner, egress, `${path}.${at}`)
}

type NamedUrl = readonly [field: string, url: string]

function urlsOf(config: GatewayConfig): readonly NamedUrl[] {
  const account = config['vertex_service_account_json']
  const tokenUri = typeof account === 'object' && account !== null && 'token_uri' in account ? account.token_uri : undefined
  const given = [...urlFields.map((field) => [field, config[field]] as const), ['vertex_service_account_json.token_uri', tokenUri] as const]
  return given.flatMap(([field, url]) => (typeof url === 'string' ? [[field, url] as const] : []))
}

/** The guard looks at hosts; the URLs that checks call may have a query. */
const checkUrlsOf = (config: GatewayConfig): readonly NamedUrl[] =>
  guardrailFields.flatMap((name) =>
    (config[name] ?? []).flatMap((guardrail, at) =>
      inlineUrls(guardrail, [name, at]).map(({ path, url }): NamedUrl => [pathText(path), url.split('?', 1)[0] ?? url]),
    ),
  )
