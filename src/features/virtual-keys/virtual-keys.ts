import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { Integration } from '../integrations/integration.entity.ts'
import type { Configurations } from '../integrations/index.ts'
import { presentShared } from '../providers/index.ts'
import { presentMappings } from '../secret-references/index.ts'
import type { ProviderEntity } from '../providers/provider.entity.ts'
import type { AzureFields } from './virtual-key.schema.ts'

const oldNames: Readonly<Record<string, string>> = { 'open-ai': 'openai', 'hugging-face': 'huggingface' }

/** The catalogue's id of a provider; two have an old name on this surface. */
export const toProviderId = (provider: string): string => (Object.hasOwn(oldNames, provider) ? (oldNames[provider] ?? provider) : provider)

/** The integration that a virtual key owns. */
export const ownIntegration = (em: EntityManager, row: ProviderEntity, forWrite = false): Promise<Integration> =>
  em.findOneOrFail(
    Integration,
    { id: row.integrationId, organisationId: row.organisationId },
    forWrite ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {},
  )

/** The Azure fields of old clients as configurations; only the given ones. */
export function azureConfigurations(fields: AzureFields): Configurations {
  const deployments = toDeployments(fields)
  const named = {
    azure_resource_name: fields.resourceName,
    azure_api_version: fields.apiVersion,
    azure_deployment_config: deployments,
  }
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined))
}

function toDeployments({ deploymentConfig, deploymentName, apiVersion }: AzureFields) {
  if (deploymentConfig) {
    return deploymentConfig.map((given) => ({
      azure_deployment_name: given.deploymentName,
      azure_api_version: given.apiVersion,
      azure_model_slug: given.alias ?? given.deploymentName,
      ...(given.alias !== undefined && { alias: given.alias }),
      is_default: given.is_default,
    }))
  }
  if (!deploymentName || !apiVersion) return deploymentConfig
  return [{ azure_deployment_name: deploymentName, azure_api_version: apiVersion, azure_model_slug: deploymentName, is_default: true }]
}

/** A virtual key as it is answered: never with the key behind it. */
export const presentVirtualKey = (row: ProviderEntity, integration: Integration, nowMs: number) => ({
  ...presentShared(row, nowMs),
  provider: integration.aiProviderId,
  masked_key: integration.maskedKey ?? null,
  model_config: { ...integration.configurations },
  secret_mappings: presentMappings(integration.secretMappings ?? []),
  object: 'virtual-key' as const,
})
