import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import type { z } from 'zod'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { guardrailActions } from '../../gateway/ports/checks.ts'
import type { Place } from '../../app/secrets/vault.ts'

/** Checks of requests and answers, and the actions on their verdicts. */
export const GuardrailEntity = defineEntity({
  name: 'Guardrail',
  tableName: 'guardrails',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    /** Null: it belongs to the organisation, and every workspace may use it. */
    workspaceId: p.uuid().nullable(),
    slug: p.string().length(255),
    name: p.string().length(255),
    status: status('active', 'archived'),
    /** New with every change of the checks or the actions. */
    versionId: p.uuid(),
    checks: p.blob(),
    /** Partners whose stored credentials the checks use. */
    pluginReferences: p.array().default([]),
    actions: p.json<z.output<typeof guardrailActions>>(),
    ownerId: p.uuid().nullable(),
    updatedBy: p.uuid().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type GuardrailEntity = InferEntity<typeof GuardrailEntity>

/** The place where the checks of a guardrail are sealed. */
export const guardrailPlace = ({ id: rowId, organisationId }: Pick<GuardrailEntity, 'id' | 'organisationId'>): Place => ({
  organisationId,
  table: 'guardrails',
  column: 'checks',
  rowId,
})
