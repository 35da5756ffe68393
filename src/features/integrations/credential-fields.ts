/** Configurations as the flat text fields of a credential: objects become JSON; of several Azure deployments the default one counts. */
export function toFields(configurations: Readonly<Record<string, unknown>>): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [name, value] of Object.entries(configurations)) {
    if (notFields.has(name) || value === undefined || value === null) continue
    fields[name] = typeof value === 'string' ? value : JSON.stringify(value)
  }
  return { ...fields, ...defaultDeployment(configurations['azure_deployment_config']) }
}

const notFields: ReadonlySet<string> = new Set(['custom_host', 'custom_headers'])

function defaultDeployment(deployments: unknown): Record<string, string> {
  if (!Array.isArray(deployments)) return {}
  const known = deployments.filter(isDeployment)
  const chosen = known.find(({ is_default }) => is_default === true) ?? known[0]
  if (chosen === undefined) return {}
  return { azure_deployment_name: chosen.azure_deployment_name, azure_api_version: chosen.azure_api_version }
}

interface Deployment {
  readonly azure_deployment_name: string
  readonly azure_api_version: string
  readonly is_default?: unknown
}

function isDeployment(value: unknown): value is Deployment {
  if (typeof value !== 'object' || value === null) return false
  const { azure_deployment_name: name, azure_api_version: version }: { azure_deployment_name?: unknown; azure_api_version?: unknown } =
    value
  return typeof name === 'string' && typeof version === 'string'
}
