import type { EntityManager } from '@mikro-orm/postgresql'
import { demandNoDependants, findDependants, type Dependant } from '../../app/database/dependants.ts'
import { parseReference, versionNumber, compile, partialsOf } from '../../gateway/ports/prompts.ts'
import { ApiError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import type { PromptPartial } from './prompt.entity.ts'

/** The ids and slugs that a template includes, of any version, as written. */
export const includedIds = (names: readonly string[]): string[] => [...new Set(names.flatMap((name) => parseReference(name)?.id ?? []))]

/** A version of a partial that is about to be called in this way. */
export interface Candidate {
  readonly partial: Pick<PromptPartial, 'id' | 'slug' | 'workspaceId' | 'publishedVersion' | 'latestVersion'>
  readonly version: number
  readonly string: string
}

interface PartialVersions {
  readonly id: string
  readonly slug: string
  readonly published: number
  readonly latest: number
}

const maxVisits = 1000

/** Refuses a version that includes itself, at any depth. Any new circle goes through the changed version, so that one walk finds it. */
export async function demandNoCircle(em: EntityManager, { partial, version, string }: Candidate): Promise<void> {
  const seen = new Set<string>()
  const waiting: { readonly text: string; readonly trail: readonly string[] }[] = [{ text: string, trail: [`${partial.slug}@${version}`] }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const name of partialsOf(compile(next.text, 'string'))) {
      const target = await resolve(em, partial, name)
      if (target === null) continue
      const trail = [...next.trail, `${target.slug}@${target.version}`]
      if (target.id === partial.id && target.version === version)
        throw new ApiError('AB01', `This partial would include itself: ${trail.join(' > ')}.`, { param: 'string' })
      const key = `${target.id}@${target.version}`
      if (seen.has(key)) continue
      if (seen.add(key).size > maxVisits)
        throw new ApiError('AB01', `This partial includes more than ${maxVisits} others.`, { param: 'string' })
      waiting.push({ text: await textOf(em, target), trail })
    }
  }
}

/** The version of a partial that a name means, with the candidate's own as they are about to be; null when there is none. */
async function resolve(em: EntityManager, partial: Candidate['partial'], name: string) {
  const reference = parseReference(name)
  if (reference === null) return null
  const own = reference.id === partial.slug || reference.id.toLowerCase() === partial.id
  const found = own
    ? { id: partial.id, slug: partial.slug, published: partial.publishedVersion, latest: partial.latestVersion }
    : await findPartial(em, partial.workspaceId, reference.id)
  if (found === null) return null
  const { suffix } = reference
  const version = suffix === '' ? found.published : suffix === 'latest' ? found.latest : versionNumber(suffix)
  return version === null ? null : { id: found.id, slug: found.slug, version }
}

async function findPartial(em: EntityManager, workspaceId: string, id: string): Promise<PartialVersions | null> {
  const [row] = await em.execute<PartialVersions[]>(
    `SELECT id, slug, published_version AS published, latest_version AS latest FROM prompt_partials
      WHERE workspace_id = ? AND ${isUuid(id) ? 'id' : 'slug'} = ? AND status <> 'archived'`,
    [workspaceId, id],
  )
  return row ?? null
}

async function textOf(em: EntityManager, { id, version }: { id: string; version: number }): Promise<string> {
  const [row] = await em.execute<{ string: string }[]>(
    'SELECT string FROM prompt_partial_versions WHERE prompt_partial_id = ? AND version = ?',
    [id, version],
  )
  return row?.string ?? ''
}

const including = `
  SELECT 'prompt', p.id, p.slug, p.name, p.workspace_id FROM prompt_versions v JOIN prompts p ON p.id = v.prompt_id
   WHERE v.partials && ARRAY[?, ?]::text[] AND p.workspace_id = ? AND p.status <> 'archived'
     AND (v.version IN (p.published_version, p.latest_version) OR v.label_id IS NOT NULL)
  UNION SELECT 'partial', p.id, p.slug, p.name, p.workspace_id
    FROM prompt_partial_versions v JOIN prompt_partials p ON p.id = v.prompt_partial_id
   WHERE v.partials && ARRAY[?, ?]::text[] AND p.workspace_id = ? AND p.status <> 'archived' AND p.id <> ?
     AND v.version IN (p.published_version, p.latest_version)`

/** Returns the prompts and partials of which a version that is called without its number, or by a label, includes a partial. */
export const partialDependants = (em: EntityManager, { id, slug, workspaceId }: PromptPartial): Promise<Dependant[]> =>
  findDependants(em, { sql: including, values: [slug, id, workspaceId, slug, id, workspaceId, id] })

/** Refuses to delete a partial that is in use. Older versions that include it answer from then on that it is missing. */
export async function demandNotIncluded(em: EntityManager, partial: PromptPartial): Promise<void> {
  demandNoDependants('partial', await partialDependants(em, partial))
}
