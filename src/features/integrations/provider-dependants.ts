import type { EntityManager } from '@mikro-orm/postgresql'
import { demandNoDependants, findDependants, type Dependant } from '../../app/database/dependants.ts'
import type { ProviderEntity } from '../providers/provider.entity.ts'

type ProviderName = Pick<ProviderEntity, 'organisationId' | 'workspaceId' | 'slug'>

const sql = `
  SELECT 'config', c.id, c.slug, c.name, c.workspace_id FROM configs c
   WHERE c.organisation_id = ? AND c.workspace_id = ? AND c.status = 'active' AND c.provider_references @> ARRAY[?]::text[]
  UNION
  SELECT 'prompt', p.id, p.slug, p.name, p.workspace_id FROM prompt_versions v JOIN prompts p ON p.id = v.prompt_id
   WHERE v.organisation_id = ? AND v.workspace_id = ? AND v.virtual_key IN (?, ?) AND p.status = 'active'
     AND (v.version IN (p.published_version, p.latest_version) OR v.label_id IS NOT NULL)`

/** Returns the configs of the provider's workspace that name it, and the prompts whose published, latest or labelled version does. */
export function providerDependants(em: EntityManager, { organisationId, workspaceId, slug }: ProviderName): Promise<Dependant[]> {
  const values = [organisationId, workspaceId, slug, organisationId, workspaceId, slug, `@${slug}`]
  return findDependants(em, { sql, values })
}

/** Throws AB07 while requests of configs or prompts would fail without this provider. */
export async function demandUnused(em: EntityManager, provider: ProviderName, noun = 'provider'): Promise<void> {
  demandNoDependants(noun, await providerDependants(em, provider))
}
