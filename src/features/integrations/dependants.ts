import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { ApiError } from '../../lib/errors.ts'
import { ProviderEntity } from '../providers/provider.entity.ts'
import type { Integration } from './integration.entity.ts'

const live = (row: Integration) => ({ organisationId: row.organisationId, integrationId: row.id, status: { $ne: 'archived' as const } })

/** Archives the provider that was made with the integration; AB07 naming the others that still use it. */
export async function archiveDefaultProvider(em: EntityManager, row: Integration): Promise<void> {
  const providers = await em.find(ProviderEntity, live(row), { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { slug: 'asc' } })
  const others = providers.filter(({ isDefault }) => !isDefault).map(({ slug }) => `@${slug}`)
  if (others.length > 0) throw new ApiError('AB07', `Providers still use this integration: ${others.join(', ')}. Delete them first.`)
  for (const provider of providers) provider.status = 'archived'
}

/** In how many workspaces there is a provider of the integration. */
export async function countWorkspaces(em: EntityManager, row: Integration): Promise<number> {
  const providers = await em.find(ProviderEntity, live(row), { fields: ['workspaceId'] })
  return new Set(providers.map(({ workspaceId }) => workspaceId)).size
}
