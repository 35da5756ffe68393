import { LockMode, type EntityManager } from '@mikro-orm/postgresql'
import { byIdOrSlug, flushUnique, notFound, onlySlugs, orMeant, orNotFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { parseReference, versionNumber } from '../../gateway/ports/prompts.ts'
import { ApiError } from '../../lib/errors.ts'
import { findCollection } from '../collections/index.ts'
import { labelsOf } from '../labels/index.ts'
import { Label } from '../labels/label.entity.ts'
import { visibleTo } from '../workspaces/index.ts'
import { Prompt } from './prompt.entity.ts'
import type { CreatePrompt, UpdatePrompt } from './prompt.schema.ts'
import { choosePromptSlug } from './slugs.ts'
import { PromptVersion } from './version.entity.ts'
import { completed, contentOf } from './content.ts'
import { addVersion } from './versions.ts'

const noun = 'prompt'
const param = 'promptId'

/** A live prompt that the caller may see; AB08 otherwise. Locked when it is about to change. */
export async function findPrompt(
  em: EntityManager,
  actor: Actor,
  { reference, forWrite = false }: { reference: string; forWrite?: boolean },
): Promise<Prompt> {
  const live = { ...visibleTo(actor), status: 'active' as const }
  const where = { ...live, ...byIdOrSlug(reference) }
  const row = await em.findOne(Prompt, where, forWrite ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {})
  return orMeant(row, { noun, reference, param }, () => em.find(Prompt, live, onlySlugs))
}

/** The prompt and the version that `id`, `id@latest`, `id@12` or `id@label` names; AB08 when either is missing. */
export async function findPromptVersion(em: EntityManager, actor: Actor, text: string): Promise<readonly [Prompt, PromptVersion]> {
  const reference = parseReference(text)
  if (reference === null) throw notFound(noun, text, param)
  const prompt = await findPrompt(em, actor, { reference: reference.id })
  const version = await versionBySuffix(em, prompt, reference.suffix)
  return [prompt, orNotFound(version, noun, { reference: text, param })]
}

async function versionBySuffix(em: EntityManager, prompt: Prompt, suffix: string): Promise<PromptVersion | null> {
  const named = suffix === '' ? prompt.publishedVersion : suffix === 'latest' ? prompt.latestVersion : versionNumber(suffix)
  if (named !== null) return em.findOne(PromptVersion, { promptId: prompt.id, version: named })
  const labels = await em.find(Label, { $and: [labelsOf(prompt.organisationId, prompt.workspaceId), { name: suffix }] })
  return em.findOne(PromptVersion, { promptId: prompt.id, labelId: { $in: labels.map(({ id }) => id) } })
}

/** Stores a prompt and its first version. The rows are written when it returns. */
export async function addPrompt(em: EntityManager, actor: Actor, body: CreatePrompt): Promise<readonly [Prompt, PromptVersion]> {
  const collection = await findCollection(em, actor, { reference: body.collection_id, lock: 'hold', param: 'collection_id' })
  const { organisationId } = actor
  const prompt = em.create(Prompt, {
    organisationId,
    workspaceId: collection.workspaceId,
    collectionId: collection.id,
    slug: await choosePromptSlug(em, { table: 'prompts', organisationId, name: body.name }),
    name: body.name,
    createdBy: actor.id,
  })
  await flushUnique(em, 'This slug is taken.', 'name')
  return [prompt, await addVersion(em, { actor, prompt, version: 1, content: contentOf(body) })]
}

/** Changes name and collection, and adds a version when the body has a field of one. Returns the latest version. */
export async function changePrompt(
  em: EntityManager,
  actor: Actor,
  { prompt, body }: { prompt: Prompt; body: UpdatePrompt },
): Promise<PromptVersion> {
  if (body.name !== undefined) prompt.name = body.name
  if (body.collection_id !== undefined) prompt.collectionId = await collectionFor(em, actor, { prompt, reference: body.collection_id })
  const latest = await em.findOneOrFail(PromptVersion, { promptId: prompt.id, version: prompt.latestVersion })
  const content = completed(body, latest)
  if (content === null) return latest
  prompt.latestVersion += 1
  return addVersion(em, { actor, prompt, version: prompt.latestVersion, content })
}

async function collectionFor(
  em: EntityManager,
  actor: Actor,
  { prompt, reference }: { prompt: Prompt; reference: string },
): Promise<string> {
  const collection = await findCollection(em, actor, { reference, lock: 'hold', param: 'collection_id' })
  if (collection.workspaceId === prompt.workspaceId) return collection.id
  throw new ApiError('AB01', 'The collection belongs to another workspace.', { param: 'collection_id' })
}

/** Deletes a prompt. Its labels are free again, so that a deleted prompt keeps no label from being deleted. */
export async function archivePrompt(em: EntityManager, prompt: Prompt): Promise<void> {
  prompt.status = 'archived'
  for (const version of await em.find(PromptVersion, { promptId: prompt.id, labelId: { $ne: null } })) version.labelId = null
}

/** The models of the published versions, by the ids of their prompts. */
export async function publishedModels(em: EntityManager, prompts: readonly Prompt[]): Promise<ReadonlyMap<string, string | null>> {
  if (prompts.length === 0) return new Map()
  const rows = await em.execute<{ id: string; model: string | null }[]>(
    `SELECT p.id, v.model FROM prompts p JOIN prompt_versions v ON v.prompt_id = p.id AND v.version = p.published_version
      WHERE p.id IN (${prompts.map(() => '?').join(', ')})`,
    prompts.map(({ id }) => id),
  )
  return new Map(rows.map(({ id, model }) => [id, model]))
}
