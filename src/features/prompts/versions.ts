import type { EntityManager } from '@mikro-orm/postgresql'
import { LockMode } from '@mikro-orm/postgresql'
import { byIdOrSlug, notFound, orNotFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import { compilePrompt, templatesIn, jsonVariables, versionNumber, partialsOf } from '../../gateway/ports/prompts.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { labelsOf } from '../labels/index.ts'
import { Label } from '../labels/label.entity.ts'
import { ProviderEntity } from '../providers/provider.entity.ts'
import { toOrdered, type Content } from './content.ts'
import { includedIds } from './includes.ts'
import type { Prompt } from './prompt.entity.ts'
import { PromptVersion } from './version.entity.ts'

interface NewVersion {
  readonly actor: Actor
  readonly prompt: Prompt
  readonly version: number
  readonly content: Content
}

/** Stores a version, its template checked. The row is written when it returns. */
export async function addVersion(em: EntityManager, { actor, prompt, version, content }: NewVersion): Promise<PromptVersion> {
  const { string, isRawTemplate, templateMetadata } = content
  const template = compilePrompt({ string, isRaw: isRawTemplate, jsonVariables: jsonVariables(templateMetadata) })
  const row = em.create(PromptVersion, {
    ...content,
    ordered: toOrdered(content),
    organisationId: prompt.organisationId,
    workspaceId: prompt.workspaceId,
    promptId: prompt.id,
    version,
    virtualKey: await usableProvider(em, prompt, content.virtualKey),
    partials: includedIds(templatesIn(template).flatMap(partialsOf)),
    createdBy: actor.id,
  })
  await em.flush()
  return row
}

/** The provider's slug as it was written, or in place of its id; AB08 when the workspace has no such provider or virtual key. */
async function usableProvider(em: EntityManager, { organisationId, workspaceId }: Prompt, reference: string): Promise<string> {
  const slug = reference.replace(/^@/, '')
  const where = { ...byIdOrSlug(slug), organisationId, workspaceId, status: { $ne: 'archived' as const } }
  const row = orNotFound(await em.findOne(ProviderEntity, where), 'provider or virtual key', { reference, param: 'virtual_key' })
  return isUuid(slug) ? row.slug : reference
}

/** A version by its id, its number or `latest`; AB08 otherwise. */
export async function findVersion(em: EntityManager, prompt: Prompt, reference: string): Promise<PromptVersion> {
  const number = reference === 'latest' ? prompt.latestVersion : versionNumber(reference)
  const named = isUuid(reference) ? { id: reference.toLowerCase() } : number === null ? null : { version: number }
  const row = named === null ? null : await em.findOne(PromptVersion, { ...named, promptId: prompt.id })
  return orNotFound(row, 'version', { reference, param: 'versionId' })
}

/** Publishes a version: it serves from now on when none is named. */
export async function publishVersion(em: EntityManager, prompt: Prompt, version: number): Promise<void> {
  const exists = await em.count(PromptVersion, { promptId: prompt.id, version })
  if (exists === 0) throw notFound('version', String(version), 'version')
  prompt.publishedVersion = version
}

/** Gives a version a label, which the version that had it loses; null takes the label away. */
export async function labelVersion(
  em: EntityManager,
  prompt: Prompt,
  { version, labelId }: { version: PromptVersion; labelId: string | null },
): Promise<void> {
  if (labelId !== null) {
    const serving = { $and: [labelsOf(prompt.organisationId, prompt.workspaceId), { id: labelId.toLowerCase() }] }
    const label = orNotFound(await em.findOne(Label, serving, { lockMode: LockMode.PESSIMISTIC_READ }), 'label', {
      reference: labelId,
      param: 'label_id',
    })
    const former = await em.findOne(PromptVersion, { promptId: prompt.id, labelId: label.id, id: { $ne: version.id } })
    if (former !== null) former.labelId = null
    await em.flush()
  }
  version.labelId = labelId?.toLowerCase() ?? null
}
