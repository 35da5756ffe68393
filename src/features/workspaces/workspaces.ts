import type { EntityManager } from '@mikro-orm/postgresql'
import { flushUnique, holdSlug, notFound } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import type { Vault } from '../../app/secrets/vault.ts'
import type { Config } from '../../config/config.ts'
import { assignDefined, mergeFields } from '../../lib/assign-defined.ts'
import { enforcedMetadata, lacksMetadata, missingMetadata } from '../../lib/access/enforced-metadata.ts'
import { changedLimits, demandSetter } from '../../lib/access/set-from-above.ts'
import { ApiError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { freeSlug, toSlug } from '../../lib/text/slug.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { demandConfig, demandGuardrails, demandStartNotBoundFromAbove } from '../references/index.ts'
import { User } from '../users/user.entity.ts'
import { demandScope } from './access.ts'
import { Workspace } from './workspace.entity.ts'
import type { UpdateWorkspace } from './workspace.schema.ts'

/** A workspace as a caller asks for it. */
export interface NewWorkspace extends UpdateWorkspace {
  readonly name: string
  readonly slug?: string | undefined
}

/** The actor of a write and the vault that opens the named guardrails. */
interface WriteContext {
  readonly actor: Actor
  readonly vault: Vault
  readonly config: Pick<Config, 'logRetentionDays'>
}

/** Stores a workspace under the slug asked for, or under one made from its name. */
export async function addWorkspace(em: EntityManager, { actor, vault, config }: WriteContext, wanted: NewWorkspace): Promise<Workspace> {
  const slug = await chooseSlug(em, actor, wanted)
  const nothing = { defaults: {}, usageLimits: [], rateLimits: [], accessOverrides: {}, setterRanks: {} }
  const row = em.create(Workspace, {
    organisationId: actor.organisationId,
    slug,
    name: wanted.name,
    isDefault: false,
    status: 'active',
    ...nothing,
  })
  await changeWorkspace(em, row, { body: { ...wanted, defaults: wanted.defaults ?? {} }, actor, vault, config })
  await flushUnique(em, `There is already a workspace with the slug "${slug}", perhaps an archived one.`, 'slug')
  return row
}

async function chooseSlug(em: EntityManager, { organisationId }: Actor, { slug, name }: NewWorkspace): Promise<string> {
  const wanted = slug ?? `ws-${toSlug(name, 'workspace')}`.slice(0, 255)
  await holdSlug(em, `workspaces:${organisationId}`, wanted)
  if (slug !== undefined) return slug
  return freeSlug(wanted, async (candidate) => (await em.count(Workspace, { organisationId, slug: candidate })) > 0)
}

type Changes = UpdateWorkspace & { readonly reset_usage?: boolean | undefined }

/** Changes the fields of the body; defaults and overrides field by field. */
export async function changeWorkspace(
  em: EntityManager,
  row: Workspace,
  { body, actor, vault, config }: WriteContext & { readonly body: Changes },
): Promise<void> {
  if (body.access_overrides !== undefined) demandSettings(actor)
  const days = body.log_retention_days
  if (days !== undefined && days !== (row.logRetentionDays ?? null)) demandRetention(actor, days, config)
  await demandDefaults(em, { row, vault }, body.defaults)
  const wanted = wantedLimits(actor, row, body)
  await demandConfigOfUsers(em, actor, { row, wanted: wanted.defaults })
  assignDefined(row, {
    name: body.name,
    description: body.description,
    icon: body.icon === '' ? null : body.icon,
    ...wanted,
    logRetentionDays: days,
    accessOverrides: mergeFields(row.accessOverrides, body.access_overrides),
  })
}

/** Returns the limits of a workspace as a body wants them, with the rank of the caller that set each. Throws AB03 when one was set from above. */
function wantedLimits(
  actor: Actor,
  row: Workspace,
  body: Changes,
): Pick<Workspace, 'defaults' | 'usageLimits' | 'rateLimits' | 'setterRanks'> {
  const { defaults: before, usageLimits, rateLimits, setterRanks } = row
  if (body.reset_usage === true && usageLimits.length > 0) demandSetter(actor, setterRanks, { field: 'usage_limits', param: 'reset_usage' })
  const wanted = {
    defaults: mergeFields(before, body.defaults) ?? before,
    usageLimits: body.usage_limits === undefined ? usageLimits : (body.usage_limits ?? []),
    rateLimits: body.rate_limits === undefined ? rateLimits : (body.rate_limits ?? []),
  }
  const ranks = changedLimits(actor, setterRanks, [
    { field: 'usage_limits', before: usageLimits, after: wanted.usageLimits },
    { field: 'rate_limits', before: rateLimits, after: wanted.rateLimits },
    ...(['input_guardrails', 'output_guardrails', 'user_api_key_config'] as const).map((name) => ({
      field: `defaults.${name}`,
      before: before[name],
      after: wanted.defaults[name],
    })),
  ])
  return { ...wanted, setterRanks: ranks }
}

/** Throws AB03 for another config of user keys while a key that starts from it was locked from above. */
async function demandConfigOfUsers(
  em: EntityManager,
  actor: Actor,
  { row: { id, organisationId, defaults }, wanted }: { readonly row: Workspace; readonly wanted: Workspace['defaults'] },
): Promise<void> {
  if ((wanted.user_api_key_config ?? null) === (defaults.user_api_key_config ?? null)) return
  await demandStartNotBoundFromAbove(em, actor, { of: 'users', organisationId, workspaceId: id, param: 'defaults.user_api_key_config' })
}

/** AB01 for defaults that name missing resources, or lack the metadata that the organisation asks for. */
async function demandDefaults(
  em: EntityManager,
  { row, vault }: { readonly row: Workspace; readonly vault: Vault },
  defaults: UpdateWorkspace['defaults'],
): Promise<void> {
  if (defaults === undefined) return
  const home = { organisationId: row.organisationId, workspaceId: row.id }
  await demandGuardrails(em, { home, vault }, { defaults, path: 'defaults' })
  await demandConfig(em, home, { reference: defaults?.user_api_key_config, param: 'defaults.user_api_key_config' })
  const { settings } = await em.findOneOrFail(Organisation, { id: row.organisationId })
  const metadata = mergeFields(row.defaults, defaults)?.['metadata']
  const missing = missingMetadata(enforcedMetadata(settings).workspace_metadata_keys, metadata)
  if (missing !== null) throw lacksMetadata('workspace', missing)
}

/** Throws when people would loosen the settings that bind themselves. */
function demandSettings(actor: Actor): void {
  if (actor.workspaceId !== null)
    throw new ApiError('AB03', 'The settings of access are changed with an organisation key.', { param: 'access_overrides' })
  demandScope(actor, 'organisation_settings.update')
}

/** Throws for a caller that may not decide when logs are deleted, and for more days than the installation keeps them. */
function demandRetention(actor: Actor, days: number | null, { logRetentionDays: most }: Pick<Config, 'logRetentionDays'>): void {
  demandScope(actor, 'organisation_settings.update')
  if (days !== null && days > most)
    throw new ApiError('AB01', `The installation keeps logs for ${most} days (LOG_RETENTION_DAYS): a workspace keeps its own no longer.`, {
      param: 'log_retention_days',
    })
}

/** Users by id or e-mail address, as members to be. */
export async function toNewMembers(em: EntityManager, actor: Actor, references: readonly string[]) {
  const users = await em.find(User, {
    organisationId: actor.organisationId,
    status: 'active',
    $or: [
      { id: { $in: references.filter(isUuid).map((id) => id.toLowerCase()) } },
      { email: { $in: references.map((email) => email.toLowerCase()) } },
    ],
  })
  const ids = references.map((reference, at) => {
    const wanted = reference.toLowerCase()
    const user = users.find(({ id, email }) => id === wanted || email === wanted)
    if (user === undefined) throw notFound('user', reference, `users[${at}]`)
    return user.id
  })
  return [...new Set(ids)].map((id) => ({ id, role: 'member' as const }))
}
