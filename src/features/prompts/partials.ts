import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { byIdOrSlug, flushUnique, notFound, onlySlugs, orMeant, orNotFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { parseReference, versionNumber, compile, partialsOf } from '../../gateway/ports/prompts.ts'
import { visibleTo } from '../workspaces/index.ts'
import { demandNoCircle, demandNotIncluded, includedIds } from './includes.ts'
import { PromptPartial } from './prompt.entity.ts'
import { choosePromptSlug } from './slugs.ts'
import { PartialVersion } from './version.entity.ts'

const noun = 'partial'
const param = 'promptPartialId'

/** A live partial that the caller may see; AB08 otherwise. Locked when it is about to change. */
export async function findPartial(
  em: EntityManager,
  actor: Actor,
  { reference, forWrite = false }: { reference: string; forWrite?: boolean },
): Promise<PromptPartial> {
  const live = { ...visibleTo(actor), status: 'active' as const }
  const where = { ...live, ...byIdOrSlug(reference) }
  const row = await em.findOne(PromptPartial, where, forWrite ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {})
  return orMeant(row, { noun, reference, param }, () => em.find(PromptPartial, live, onlySlugs))
}

/** The partial and the version that `id`, `id@latest` or `id@12` names; AB08 when either is missing. */
export async function findPartialVersion(em: EntityManager, actor: Actor, text: string): Promise<readonly [PromptPartial, PartialVersion]> {
  const reference = parseReference(text)
  if (reference === null) throw notFound(noun, text, param)
  const partial = await findPartial(em, actor, { reference: reference.id })
  const { suffix } = reference
  const version = suffix === '' ? partial.publishedVersion : suffix === 'latest' ? partial.latestVersion : versionNumber(suffix)
  const row = version === null ? null : await em.findOne(PartialVersion, { promptPartialId: partial.id, version })
  return [partial, orNotFound(row, noun, { reference: text, param })]
}

interface NewPartial {
  readonly name: string
  readonly string: string
  readonly description: string | null
  readonly workspaceId: string
  readonly collectionId: string
}

/** Stores a partial and its first version. The rows are written when it returns. */
export async function addPartial(em: EntityManager, actor: Actor, wanted: NewPartial): Promise<readonly [PromptPartial, PartialVersion]> {
  const { organisationId } = actor
  const { name, workspaceId, collectionId } = wanted
  const slug = await choosePromptSlug(em, { table: 'prompt_partials', organisationId, name })
  const partial = em.create(PromptPartial, { organisationId, workspaceId, collectionId, slug, name, createdBy: actor.id })
  await flushUnique(em, 'This slug is taken.', 'name')
  return [partial, await addPartialVersion(em, { actor, partial, version: 1, ...wanted })]
}

interface NewVersion extends Pick<NewPartial, 'string' | 'description'> {
  readonly actor: Actor
  readonly partial: PromptPartial
  readonly version: number
}

/** Stores a version; refuses one that includes itself. The row is written when it returns. */
async function addPartialVersion(em: EntityManager, { actor, partial, version, string, description }: NewVersion): Promise<PartialVersion> {
  const included = partialsOf(compile(string, 'string'))
  partial.latestVersion = version
  await demandNoCircle(em, { partial, version, string })
  const { organisationId, workspaceId, id: promptPartialId } = partial
  const row = em.create(PartialVersion, {
    organisationId,
    workspaceId,
    promptPartialId,
    version,
    string,
    description,
    partials: includedIds(included),
    createdBy: actor.id,
  })
  await em.flush()
  return row
}

export interface PartialChanges {
  readonly name?: string | undefined
  readonly string?: string | undefined
  readonly description?: string | null | undefined
  readonly status?: 'active' | 'archived' | undefined
}

/** Changes the given fields; a text makes a new version. Returns the latest version. */
export async function changePartial(
  em: EntityManager,
  actor: Actor,
  { partial, name, string, description = null, status }: PartialChanges & { partial: PromptPartial },
): Promise<PartialVersion> {
  if (name !== undefined) partial.name = name
  if (status === 'archived') await archivePartial(em, partial)
  if (string !== undefined) return addPartialVersion(em, { actor, partial, version: partial.latestVersion + 1, string, description })
  return em.findOneOrFail(PartialVersion, { promptPartialId: partial.id, version: partial.latestVersion })
}

/** Publishes a version: prompts that name no version include it from now on. Throws AB01 if the partial would include itself. */
export async function publishPartial(em: EntityManager, partial: PromptPartial, version: number): Promise<void> {
  const row = await em.findOne(PartialVersion, { promptPartialId: partial.id, version })
  const { string } = orNotFound(row, 'version', { reference: String(version), param: 'version' })
  partial.publishedVersion = version
  await demandNoCircle(em, { partial, version, string })
}

/** Deletes a partial that no live version includes. */
export async function archivePartial(em: EntityManager, partial: PromptPartial): Promise<void> {
  await demandNotIncluded(em, partial)
  partial.status = 'archived'
}
