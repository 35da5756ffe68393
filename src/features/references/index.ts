import type { EntityManager } from '@mikro-orm/postgresql'
import { z } from 'zod'
import type { Vault } from '../../app/secrets/vault.ts'
import { type Phase, idleIn, phasesOf } from '../../gateway/ports/checks.ts'
import { ApiError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { ConfigEntity } from '../configs/config.entity.ts'
import { GuardrailEntity, guardrailPlace } from '../guardrails/guardrail.entity.ts'

export { demandDestinationNotBoundFromAbove, demandNotBoundFromAbove, demandStartNotBoundFromAbove } from './bound-from-above.ts'

/** The owner of references: a workspace or, when `workspaceId` is null, the organisation. */
export interface Home {
  readonly organisationId: string
  readonly workspaceId: string | null
}

/** Guardrails that something names, by slug or id, to run in a phase. */
export interface NamedGuardrails {
  readonly phase: Phase
  readonly references: readonly string[]
}

/** A reference that cannot be stored, and why. */
export interface Unusable {
  readonly reference: string
  readonly why: string
}

/** The first reference that names no guardrail of a workspace (null: of the organisation itself), or one that could do nothing there. */
export async function unusableGuardrail(
  em: EntityManager,
  { home, vault }: { readonly home: Home; readonly vault: Vault },
  { phase, references }: NamedGuardrails,
): Promise<Unusable | null> {
  const found = await phasesByReference(em, home, { references, vault })
  const reference = references.find((name) => found.get(name)?.has(phase) !== true)
  if (reference === undefined) return null
  const quoted = JSON.stringify(reference)
  const where = home.workspaceId === null ? 'the organisation' : 'this workspace or its organisation'
  return {
    reference,
    why: found.has(reference) ? `The guardrail ${quoted}: ${idleIn[phase]}` : `There is no guardrail ${quoted} in ${where}.`,
  }
}

async function phasesByReference(
  em: EntityManager,
  { organisationId, workspaceId }: Home,
  { references, vault }: { readonly references: readonly string[]; readonly vault: Vault },
): Promise<ReadonlyMap<string, ReadonlySet<Phase>>> {
  if (references.length === 0) return new Map()
  const rows = await em.find(
    GuardrailEntity,
    {
      organisationId,
      status: 'active',
      $and: [
        { $or: [{ workspaceId: null }, ...(workspaceId === null ? [] : [{ workspaceId }])] },
        { $or: [{ id: { $in: references.filter(isUuid) } }, { slug: { $in: [...references] } }] },
      ],
    },
    { fields: ['id', 'slug', 'organisationId', 'checks'] },
  )
  const found = new Map<string, ReadonlySet<Phase>>()
  for (const { id, slug, organisationId: owner, checks } of rows) {
    const held: unknown = JSON.parse(await vault.decrypt(guardrailPlace({ id, organisationId: owner }), checks))
    const phases = phasesOf(storedChecks.parse(held))
    found.set(id, phases).set(slug, phases)
  }
  return found
}

const storedChecks = z.array(z.object({ id: z.string() }))

/** The defaults of requests that name other resources. */
interface Defaults {
  readonly input_guardrails?: readonly string[] | null | undefined
  readonly output_guardrails?: readonly string[] | null | undefined
}

const lists = { input_guardrails: 'input', output_guardrails: 'output' } as const

/** AB01 for a default guardrail that is not there or would never run; `path` is the field that holds the lists. */
export async function demandGuardrails(
  em: EntityManager,
  place: { readonly home: Home; readonly vault: Vault },
  { defaults, path }: { readonly defaults: Defaults | null | undefined; readonly path: string | null },
): Promise<void> {
  for (const field of ['input_guardrails', 'output_guardrails'] as const) {
    const named = defaults?.[field] ?? []
    const fault = await unusableGuardrail(em, place, { phase: lists[field], references: named })
    if (fault === null) continue
    const param = `${path === null ? '' : `${path}.`}${field}[${named.indexOf(fault.reference)}]`
    throw new ApiError('AB01', fault.why, { param })
  }
}

/** A config that a field names, by slug or id. */
interface NamedConfig {
  readonly reference: string | null | undefined
  readonly param: string
  /** Advice for when it is not there. */
  readonly advice?: string
}

/** AB01 for a config, by slug or id, that the workspace does not have. */
export async function demandConfig(
  em: EntityManager,
  { organisationId, workspaceId }: Home,
  { reference, param, advice }: NamedConfig,
): Promise<void> {
  if (reference === null || reference === undefined) return
  const named = isUuid(reference) ? { id: reference.toLowerCase() } : { slug: reference }
  const found = await em.count(ConfigEntity, { organisationId, workspaceId: workspaceId ?? null, status: 'active', ...named })
  const fault = `There is no config ${JSON.stringify(reference)} in this workspace.`
  if (found === 0) throw new ApiError('AB01', advice === undefined ? fault : `${fault} ${advice}`, { param })
}
