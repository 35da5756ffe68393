import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id } from '../../../app/database/columns.ts'
import { tenantFilter } from '../../../app/database/orm.ts'

/** A code that serves once in place of a second factor that was lost. Only a keyed hash is stored; a code that was used has no row. */
export const RecoveryCode = defineEntity({
  name: 'RecoveryCode',
  tableName: 'recovery_codes',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    userId: p.uuid(),
    codeHash: p.blob(),
    createdAt: createdAt(),
  },
})

export type RecoveryCode = InferEntity<typeof RecoveryCode>
