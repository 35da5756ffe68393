import type { EntityManager } from '@mikro-orm/postgresql'
import { flushUnique, holdSlug } from '../../app/database/find.ts'
import type { Actor } from '../../app/route.ts'
import type { Vault } from '../../app/secrets/vault.ts'
import {
  nameOfRelease,
  releasesOfCheck,
  type CheckEntry,
  checkList,
  spelledOut,
  checkListSecrets,
  checkUrls,
  pluginsUsedBy,
  findCheck,
} from '../../gateway/ports/checks.ts'
import type { Egress } from '../../gateway/ports/egress.ts'
import { mergeFields } from '../../lib/assign-defined.ts'
import { ApiError } from '../../lib/errors.ts'
import { pathText } from '../../lib/json/json-path.ts'
import { maskFault, maskSecrets, restoreSecrets } from '../../lib/text/masked-secrets.ts'
import { madeSlug } from '../../lib/text/slug.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import type { Level } from '../../release/level.ts'
import { GuardrailEntity, guardrailPlace } from './guardrail.entity.ts'
import type { UpdateGuardrail } from './guardrail.schema.ts'

type Actions = GuardrailEntity['actions']

/** The actor of a write and the services that validate and seal it. */
export interface WriteContext {
  readonly actor: Actor
  readonly vault: Vault
  readonly egress: Egress
  readonly level: Pick<Level, 'release' | 'atLeast'>
}

export interface NewGuardrail extends Pick<GuardrailEntity, 'name' | 'actions'> {
  readonly slug?: string | undefined
  readonly checks: readonly CheckEntry[]
  /** Null: the organisation's. */
  readonly workspaceId: string | null
}

/** Stores a guardrail. The row is written when it returns. */
export async function addGuardrail(em: EntityManager, wanted: NewGuardrail, writing: WriteContext): Promise<GuardrailEntity> {
  const { actor } = writing
  const slug = wanted.slug ?? madeSlug('pg', wanted.name)
  await holdSlug(em, `guardrails:${actor.organisationId}`, slug)
  const owned = { id: uuidv7(), organisationId: actor.organisationId }
  const row = em.create(GuardrailEntity, {
    ...owned,
    workspaceId: wanted.workspaceId,
    slug,
    name: wanted.name,
    versionId: uuidv7(),
    checks: await sealedChecks(
      owned,
      await acceptChecks(wanted.checks, [], { ...writing, workspaceId: wanted.workspaceId }),
      writing.vault,
    ),
    pluginReferences: [...pluginsUsedBy(wanted.checks)],
    actions: wanted.actions,
    ownerId: actor.userId ?? actor.id,
  })
  await flushUnique(em, `There is already a guardrail with the slug "${slug}".`, 'slug')
  return row
}

/** Makes other checks effective. A masked secret stays unchanged, as long as its destination does. */
export async function replaceChecks(row: GuardrailEntity, checks: readonly CheckEntry[], writing: WriteContext): Promise<void> {
  const stored = await openChecks(row, writing.vault)
  row.checks = await sealedChecks(
    row,
    await acceptChecks(checks, stored, { ...writing, workspaceId: row.workspaceId ?? null }),
    writing.vault,
  )
  row.pluginReferences = [...pluginsUsedBy(checks)]
}

/** The actions after a change. A change of some fields of a one-word form makes it plain fields first, so that the rest of it stays. */
export function changedActions(before: Actions, change: UpdateGuardrail['actions']): Actions | undefined {
  if (change === undefined) return undefined
  const { onFail, message, ...parts } = change
  if (onFail) return mergeFields<Actions>({ onFail, message: before.message }, { message })
  const staysOneWord = onFail === null || Object.keys(parts).length === 0
  return mergeFields(staysOneWord ? before : spelledOut(before), change)
}

const secretsOf = (checks: unknown) => checkListSecrets(checks, [])

/** The checks with their secrets, once everything in them is allowed here. */
interface AcceptContext extends WriteContext {
  readonly workspaceId: string | null
}

export async function acceptChecks(
  checks: readonly CheckEntry[],
  stored: unknown,
  { egress, level, workspaceId }: AcceptContext,
): Promise<readonly CheckEntry[]> {
  if (workspaceId !== null) refuseCredentials(checks)
  const outcome = restoreSecrets(checks, stored, secretsOf)
  if ('fault' in outcome) throw maskFault(`checks${pathText(outcome.fault.path)}`, outcome.fault.reason, moved)
  for (const [at, entry] of checks.entries()) {
    const fault = levelFault(entry, { id: `checks[${at}].id`, parameters: `checks[${at}].parameters` }, level)
    if (fault !== null) throw fault
  }
  const restored = checkList.parse(outcome.restored)
  for (const { path, url } of checkUrls(restored, ['checks'])) await egress.origin(withoutQuery(url), pathText(path))
  return restored
}

/** The paths of a check in a body: of its id, and of its parameters. */
export interface CheckPaths {
  readonly id: string
  readonly parameters: string
}

/** Returns the fault of a check, or of a parameter of it, that a later release brings than the installation's level; null when there is none. */
export function levelFault({ id, parameters = {} }: CheckEntry, paths: CheckPaths, level: WriteContext['level']): ApiError | null {
  const check = findCheck(id)
  const later = check === null ? undefined : releasesOfCheck(check, parameters).find(({ release }) => !level.atLeast(release))
  if (later === undefined) return null
  const said = `${nameOfRelease(id, later.field)} comes with release ${later.release}. The level of this installation is ${level.release}.`
  return new ApiError('AB01', said, { param: later.field === null ? paths.id : `${paths.parameters}.${later.field}` })
}

/** A workspace's guardrail could collect the keys that callers bring. */
function refuseCredentials(checks: readonly CheckEntry[]): void {
  for (const [at, { id, parameters = {} }] of checks.entries()) {
    const found = findCheck(id)?.passesOn?.(parameters) ?? null
    if (found === null) continue
    const said = `${found.what}, which only a guardrail of the organisation passes on. Make it with an organisation key and without workspace_id, or leave it out.`
    throw new ApiError('AB01', said, { param: `checks[${at}].parameters.${found.field}` })
  }
}

/** The guard looks at hosts; a webhook may have a query. */
const withoutQuery = (url: string): string => url.split('?', 1)[0] ?? url

const moved = 'goes elsewhere than before, and a stored secret only goes where it was stored for'

type Owner = Pick<GuardrailEntity, 'id' | 'organisationId'>

const sealedChecks = async (owner: Owner, checks: readonly CheckEntry[], vault: Vault): Promise<Buffer> =>
  Buffer.from(await vault.encrypt(guardrailPlace(owner), JSON.stringify(checks)))

/** The checks with their secrets in the clear. */
export async function openChecks(row: Owner & Pick<GuardrailEntity, 'checks'>, vault: Vault): Promise<unknown> {
  const checks: unknown = JSON.parse(await vault.decrypt(guardrailPlace(row), row.checks))
  return checks
}

/** A guardrail as lists show it. */
export const presentGuardrail = (row: GuardrailEntity) => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  organisation_id: row.organisationId,
  workspace_id: row.workspaceId ?? null,
  status: row.status,
  created_at: row.createdAt.toISOString(),
  last_updated_at: row.lastUpdatedAt.toISOString(),
  owner_id: row.ownerId ?? null,
  updated_by: row.updatedBy ?? null,
  object: 'guardrail' as const,
})

/** A guardrail in full, but for its secrets. */
export async function presentDetail(row: GuardrailEntity, vault: Vault) {
  const checks = maskSecrets(await openChecks(row, vault), secretsOf)
  return {
    ...presentGuardrail(row),
    version_id: row.versionId,
    checks: Array.isArray(checks) ? checks.map((entry: unknown) => Object.fromEntries(Object.entries(Object(entry)))) : [],
    actions: { ...row.actions },
  }
}
