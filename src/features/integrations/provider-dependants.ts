import type { EntityManager } from '@mikro-orm/postgresql'
import { demandNoDependants } from '../../app/database/find.ts'
import type { ProviderEntity } from '../providers/provider.entity.ts'

type Named = Pick<ProviderEntity, 'organisationId' | 'workspaceId' | 'slug'>

/** The configs of the provider's workspace that name it, and the prompts whose published, latest or labelled version does. */
const dependants = `
  SELECT format('config "%s"', c.slug) AS name FROM configs c
   WHERE c.organisation_id = ? AND c.workspace_id = ? AND c.status = 'active' AND c.provider_references @> ARRAY[?]::text[]
  UNION
  SELECT format('prompt "%s"', p.slug) FROM prompt_versions v JOIN prompts p ON p.id = v.prompt_id
   WHERE v.organisation_id = ? AND v.workspace_id = ? AND v.virtual_key IN (?, ?) AND p.status = 'active'
     AND (v.version IN (p.published_version, p.latest_version) OR v.label_id IS NOT NULL)
   ORDER BY name`

/** AB07 naming the configs and prompts whose requests would fail without this provider. */
export async function demandUnused(em: EntityManager, { organisationId, workspaceId, slug }: Named, noun = 'provider'): Promise<void> {
  const rows = await em.execute<{ name: string }[]>(dependants, [
    organisationId,
    workspaceId,
    slug,
    organisationId,
    workspaceId,
    slug,
    `@${slug}`,
  ])
  demandNoDependants(
    noun,
    rows.map(({ name }) => name),
  )
}
