import { managerOrigin } from '../../gateway/ports/secrets.ts'
import { LockMode, type EntityManager, type FilterQuery } from '@mikro-orm/postgresql'
import { demandNoDependants, findDependants, type Dependant } from '../../app/database/dependants.ts'
import { byIdOrSlug, flushUnique, holdSlug, orNotFound } from '../../app/database/find.ts'
import type { Deps } from '../../app/deps.ts'
import type { Actor } from '../../app/route.ts'
import type { Vault } from '../../app/secrets/vault.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { ApiError } from '../../lib/errors.ts'
import { freeSlug, toSlug } from '../../lib/text/slug.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { demandOwnOrganisation } from '../workspaces/index.ts'
import { Workspace } from '../workspaces/workspace.entity.ts'
import { type AuthConfig, demandPair, maskAuth, parseAuth } from './auth-config.ts'
import { openAuth } from './mapped-secrets.ts'
import { authPlace, SecretReference } from './secret-reference.entity.ts'
import type { CreateReference, UpdateReference } from './secret-reference.schema.ts'

type WriteContext = { readonly actor: Actor } & Pick<Deps, 'vault' | 'egress'>

/** The references that a caller may see: a workspace key those that its workspace may use. */
export const visibleReferences = ({ organisationId, workspaceId }: Actor): FilterQuery<SecretReference> => ({
  organisationId,
  status: 'active',
  ...(workspaceId !== null && { $or: [{ allowAllWorkspaces: true }, { allowedWorkspaces: { $contains: [workspaceId] } }] }),
})

interface ReferenceQuery {
  /** UUID or slug. */
  readonly reference: string
  /** `hold` keeps it from being deleted until the transaction ends, `change` keeps others from changing it. */
  readonly lock?: 'hold' | 'change'
  readonly param?: string
}

/** Returns a reference that the caller may see; AB08 otherwise. */
export async function findReference(
  em: EntityManager,
  actor: Actor,
  { reference, lock, param = 'secretReferenceId' }: ReferenceQuery,
): Promise<SecretReference> {
  const where = { $and: [byIdOrSlug(reference), visibleReferences(actor)] }
  const lockMode = lock === 'change' ? LockMode.PESSIMISTIC_WRITE : LockMode.PESSIMISTIC_READ
  const row = await em.findOne(SecretReference, where, lock === undefined ? {} : { lockMode })
  return orNotFound(row, 'secret reference', { reference, param })
}

/** Returns true for a reference that this workspace made, and alone may use. */
const isOwn = ({ ownerWorkspaceId, allowAllWorkspaces, allowedWorkspaces }: SecretReference, workspaceId: string): boolean =>
  ownerWorkspaceId === workspaceId && !allowAllWorkspaces && allowedWorkspaces.length === 1 && allowedWorkspaces[0] === workspaceId

/** Throws AB03 for a workspace key, unless its workspace owns the reference: its sign-in would read any other secret by another path. */
function demandOwn(row: SecretReference, { workspaceId }: Actor): void {
  if (workspaceId === null || isOwn(row, workspaceId)) return
  throw new ApiError(
    'AB03',
    'A secret reference that the organisation made, or that other workspaces may use, is changed with an organisation key.',
  )
}

/** Returns a reference that the caller may change, locked until the transaction ends. AB08, AB03. */
export async function findToChange(em: EntityManager, actor: Actor, reference: string): Promise<SecretReference> {
  const row = await findReference(em, actor, { reference, lock: 'change' })
  demandOwn(row, actor)
  return row
}

/** Stores a reference. The row is written when it returns. */
export async function addReference(em: EntityManager, body: CreateReference, writing: WriteContext): Promise<SecretReference> {
  const { actor, vault } = writing
  demandOwnOrganisation(actor, body.organisation_id)
  const owner = { id: uuidv7(), organisationId: actor.organisationId }
  const auth = await accepted({ manager: body.manager_type, given: body.auth_config, stored: null }, writing)
  const slug = await chooseSlug(em, actor, body)
  const row = em.create(SecretReference, {
    ...owner,
    slug,
    name: body.name,
    description: body.description ?? null,
    managerType: body.manager_type,
    authConfig: await sealAuth(owner, auth, vault),
    secretPath: body.secret_path,
    secretKey: body.secret_key ?? null,
    secretVersion: body.secret_version ?? null,
    tags: body.tags ?? {},
    ownerWorkspaceId: actor.workspaceId,
    createdBy: actor.userId ?? actor.id,
    ...(await sharingOf(em, actor, body)),
  })
  await flushUnique(em, `There is already a secret reference with the slug "${slug}".`, 'slug')
  return row
}

/** Changes the fields of the body. */
export async function changeReference(
  em: EntityManager,
  row: SecretReference,
  { body, ...writing }: WriteContext & { body: UpdateReference },
): Promise<void> {
  const { actor, vault } = writing
  if (body.auth_config !== undefined) {
    const stored = await openAuth(row, vault)
    const auth = await accepted({ manager: row.managerType, given: body.auth_config, stored }, writing)
    row.authConfig = await sealAuth(row, auth, vault)
  }
  assignDefined(row, {
    name: body.name,
    description: body.description,
    secretPath: body.secret_path,
    secretKey: body.secret_key,
    secretVersion: body.secret_version,
    tags: body.tags === null ? {} : body.tags,
    updatedBy: actor.userId ?? actor.id,
  })
  if (body.allow_all_workspaces !== undefined || body.allowed_workspaces !== undefined) assignDefined(row, await sharingOf(em, actor, body))
}

/** Deletes a reference, and with it the only copy of its sign-in. AB07 naming its users. */
export async function archiveReference(em: EntityManager, row: SecretReference, actor: Actor): Promise<void> {
  demandNoDependants('secret reference', await usersOf(em, row))
  assignDefined(row, { status: 'archived', authConfig: null, updatedBy: actor.userId ?? actor.id })
}

const users = `
  SELECT CASE i.kind WHEN 'integration' THEN 'integration' ELSE 'virtual_key' END,
         coalesce(p.id, i.id), coalesce(p.slug, i.slug), coalesce(p.name, i.name), coalesce(p.workspace_id, i.workspace_id)
    FROM integrations i LEFT JOIN providers p ON i.kind = 'virtual-key' AND p.integration_id = i.id AND p.status <> 'archived'
   WHERE i.organisation_id = ? AND i.status = 'active' AND i.secret_mappings @> ?::jsonb`

/** Returns the integrations and virtual keys that use a reference. */
export const usersOf = (
  em: EntityManager,
  { id, organisationId }: SecretReference,
  workspaceId: string | null = null,
): Promise<Dependant[]> =>
  findDependants(em, { sql: users, values: [organisationId, JSON.stringify([{ secret_reference_id: id }])] }, workspaceId)

async function accepted(auth: Parameters<typeof parseAuth>[0], { egress }: Pick<WriteContext, 'egress'>): Promise<AuthConfig> {
  const config = parseAuth(auth)
  demandPair(config)
  await managerOrigin(config, egress)
  return config
}

const sealAuth = async (owner: Pick<SecretReference, 'id' | 'organisationId'>, auth: AuthConfig, vault: Vault): Promise<Buffer> =>
  Buffer.from(await vault.encrypt(authPlace(owner), JSON.stringify(auth)))

interface WorkspaceShare {
  readonly allow_all_workspaces?: boolean | undefined
  readonly allowed_workspaces?: readonly string[] | undefined
}

/**
 * Returns the workspaces that may use a reference: for a workspace key its own alone. AB01 for a workspace that does not exist, and for two fields
 * that exclude one another; AB03 for a reference that the caller may not share.
 */
async function sharingOf(em: EntityManager, { organisationId, workspaceId }: Actor, sharing: WorkspaceShare) {
  const { allow_all_workspaces: all, allowed_workspaces: named } = sharing
  const param = 'allowed_workspaces'
  if (workspaceId !== null && all === true)
    throw new ApiError('AB03', 'A secret reference is shared with all workspaces by an organisation key.', {
      param: 'allow_all_workspaces',
    })
  if (named === undefined) {
    if (workspaceId !== null) return { allowAllWorkspaces: false, allowedWorkspaces: [workspaceId] }
    if (all === false)
      throw new ApiError(
        'AB01',
        'List the workspaces that may use this secret reference in allowed_workspaces, or set allow_all_workspaces to true.',
        { param },
      )
    return { allowAllWorkspaces: true, allowedWorkspaces: [] }
  }
  if (all === true) throw new ApiError('AB01', 'allow_all_workspaces and allowed_workspaces exclude one another.', { param })
  const found = await Promise.all(
    named.map((reference) => em.findOne(Workspace, { ...byIdOrSlug(reference), organisationId, status: 'active' })),
  )
  const missing = named.find((_, at) => !found[at])
  if (missing !== undefined) throw new ApiError('AB01', `There is no workspace "${missing}".`, { param })
  const ids = [...new Set(found.flatMap((row) => (row ? [row.id] : [])))]
  if (workspaceId !== null && ids.some((id) => id !== workspaceId))
    throw new ApiError('AB03', 'A secret reference is shared with other workspaces by an organisation key.', { param })
  return { allowAllWorkspaces: false, allowedWorkspaces: ids }
}

async function chooseSlug(em: EntityManager, { organisationId }: Actor, { slug, name }: CreateReference): Promise<string> {
  const wanted = slug ?? toSlug(name, 'secret')
  await holdSlug(em, `secret-references:${organisationId}`, wanted)
  if (slug !== undefined) return slug
  return freeSlug(wanted, async (candidate) => (await em.count(SecretReference, { organisationId, slug: candidate, status: 'active' })) > 0)
}

interface ReadRow {
  readonly id: string
  readonly fetched: Date | null
  readonly since: Date | null
  readonly failed: Date | null
  readonly reason: 'away' | 'denied' | 'missing' | 'odd' | null
  readonly message: string | null
  readonly stale: boolean | null
  readonly users: number
}

/** Returns the outcome of the last question for each, and how many use it. */
async function readStates(em: EntityManager, rows: readonly SecretReference[]): Promise<ReadonlyMap<string, ReadRow>> {
  if (rows.length === 0) return new Map()
  const found = await em.execute<ReadRow[]>(
    `SELECT r.id, s.last_fetched_at AS fetched, s.failing_since AS since, s.failed_at AS failed, s.reason, s.message, s.is_stale AS stale,
            (SELECT count(*)::int FROM integrations i WHERE i.organisation_id = r.organisation_id AND i.status = 'active'
                AND i.secret_mappings @> jsonb_build_array(jsonb_build_object('secret_reference_id', r.id::text))) AS users
       FROM secret_references r LEFT JOIN secret_reference_reads s ON s.reference_id = r.id
      WHERE r.id IN (${rows.map(() => '?').join(', ')})`,
    rows.map(({ id }) => id),
  )
  return new Map(found.map((row) => [row.id, row]))
}

const iso = (date: Date | string): string => new Date(date).toISOString()

function presentState(state: ReadRow | undefined, nowMs: number) {
  const fetched = state?.fetched ?? null
  return {
    last_fetched_at: fetched === null ? null : iso(fetched),
    age_seconds: fetched === null ? null : Math.max(0, Math.round((nowMs - new Date(fetched).getTime()) / 1000)),
    last_error: state === undefined ? null : presentFailure(state),
    used_by_count: state?.users ?? 0,
  }
}

function presentFailure({ since, failed, reason, message, stale }: ReadRow) {
  if (reason === null || failed === null || since === null) return null
  return { reason, message: message ?? '', failed_at: iso(failed), failing_since: iso(since), serves_last_good: stale === true }
}

const present = (row: SecretReference, state: ReadRow | undefined, nowMs: number) => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  manager_type: row.managerType,
  status: 'ACTIVE' as const,
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
  secret_path: row.secretPath,
  secret_key: row.secretKey ?? null,
  secret_version: row.secretVersion ?? null,
  tags: { ...row.tags },
  ...presentState(state, nowMs),
  object: 'secret-reference' as const,
})

/** References as lists show them. */
export async function presentReferences(em: EntityManager, rows: readonly SecretReference[], nowMs: number) {
  const states = await readStates(em, rows)
  return rows.map((row) => present(row, states.get(row.id), nowMs))
}

/** A reference in full, but for the secrets of its sign-in. A workspace key sees no other workspace in it. */
export async function presentReference(
  em: EntityManager,
  row: SecretReference,
  { actor, deps }: { actor: Actor; deps: Pick<Deps, 'vault' | 'clock'> },
) {
  const states = await readStates(em, [row])
  const ids = row.allowedWorkspaces.filter((id) => actor.workspaceId === null || id === actor.workspaceId)
  const workspaces =
    ids.length === 0
      ? []
      : await em.find(Workspace, { id: { $in: [...ids] }, organisationId: row.organisationId }, { orderBy: { slug: 'asc' } })
  return {
    ...present(row, states.get(row.id), deps.clock.now()),
    organisation_id: row.organisationId,
    description: row.description ?? null,
    allow_all_workspaces: row.allowAllWorkspaces,
    allowed_workspaces: workspaces.map(({ id, slug, name }) => ({ id, slug, name })),
    auth_config: maskAuth(await openAuth(row, deps.vault)),
    created_by: row.createdBy ?? null,
  }
}
