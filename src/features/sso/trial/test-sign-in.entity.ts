import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id } from '../../../app/database/columns.ts'
import { tenantFilter } from '../../../app/database/orm.ts'
import type { Place } from '../../../app/secrets/vault.ts'

/** A sign-in that only shows its outcome. Only a keyed hash of the secret in its URL is stored. */
export const TestSignIn = defineEntity({
  name: 'TestSignIn',
  tableName: 'test_sign_ins',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    tokenHash: p.blob(),
    /** The time until which it may begin. */
    expiresAt: p.datetime(),
    /** Null: it has not come back yet. */
    finishedAt: p.datetime().nullable(),
    /** Sealed JSON, an `Outcome`. */
    outcome: p.blob().nullable(),
    createdAt: createdAt(),
  },
})

export type TestSignIn = InferEntity<typeof TestSignIn>

/** The place where the outcome of a test sign-in is sealed. */
export const outcomePlace = ({ id: rowId, organisationId }: Pick<TestSignIn, 'id' | 'organisationId'>): Place => ({
  organisationId,
  table: 'test_sign_ins',
  column: 'outcome',
  rowId,
})
