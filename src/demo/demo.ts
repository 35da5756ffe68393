import { performAsOperator } from '../cli/keys/operator.ts'
import { asSystem } from '../app/database/orm.ts'
import type { Deps } from '../app/deps.ts'
import type { Demo } from '../app/start/start-mode.ts'
import type { Config } from '../config/config.ts'
import { createIntegration, putModels, updateIntegration } from '../features/integrations/index.ts'
import { createProvider } from '../features/providers/index.ts'
import { startEmulator } from './emulator.ts'

/** The name of the provider, and of its models. Their prices are made up. */
const slug = 'demo'
const models = [
  { slug: 'demo-chat', enabled: true, is_custom: true, pricing_config: pricesOf(1, 2) },
  { slug: 'demo-embed', enabled: true, is_custom: true, pricing_config: pricesOf(0.1, 0) },
]

/** US dollars for a million tokens. */
function pricesOf(request: number, response: number) {
  return { type: 'static', pay_as_you_go: { request_token: { price: request }, response_token: { price: response } } }
}

/** Starts a provider in this process. It listens on the loopback interface alone, and the guard lets requests go to exactly this port. */
export async function openDemo(config: Config): Promise<{ readonly config: Config; readonly demo: Demo }> {
  const { origin } = await startEmulator()
  const trustedCustomHosts = [...config.trustedCustomHosts, origin.replace('http://', '')]
  return { config: { ...config, trustedCustomHosts }, demo: { provide: (deps) => provide(deps, origin) } }
}

/** Stores the provider for the first organisation, or its new address: the port differs at each start. */
async function provide(deps: Deps, origin: string): Promise<void> {
  const [first] = await asSystem(deps.orm, (em) => em.execute<FirstOrganisation[]>(firstOrganisation, [slug, slug]))
  if (first === undefined) return
  const configurations = { custom_host: origin }
  const perform = (
    route: Parameters<typeof performAsOperator>[1],
    asked: { readonly params?: Record<string, string>; readonly body: object },
  ) => performAsOperator(deps, route, { organisationId: first.id, params: {}, path: 'npm start -- --demo', ...asked })
  if (first.hasIntegration) {
    await perform(updateIntegration, { params: { slug }, body: { configurations } })
    return
  }
  await perform(createIntegration, { body: { name: 'Demo', slug, ai_provider_id: 'triton', configurations } })
  await perform(putModels, { params: { slug }, body: { models } })
  const [made] = await asSystem(deps.orm, (em) => em.execute<FirstOrganisation[]>(firstOrganisation, [slug, slug]))
  // Before 1.11.2 an integration brings no provider.
  if (made?.hasProvider === false) await perform(createProvider, { body: { name: 'Demo', slug, integration_id: slug } })
}

interface FirstOrganisation {
  readonly id: string
  readonly hasIntegration: boolean
  readonly hasProvider: boolean
}

const firstOrganisation = `
  SELECT o.id,
         EXISTS (SELECT FROM integrations i WHERE i.organisation_id = o.id AND i.slug = ? AND i.status = 'active') AS "hasIntegration",
         EXISTS (SELECT FROM providers p WHERE p.organisation_id = o.id AND p.slug = ? AND p.status <> 'archived') AS "hasProvider"
    FROM organisations o WHERE o.status = 'active' ORDER BY o.created_at, o.id LIMIT 1`
