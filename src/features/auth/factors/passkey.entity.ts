import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id } from '../../../app/database/columns.ts'
import { tenantFilter } from '../../../app/database/orm.ts'

/** A passkey of a person (WebAuthn): the public half of a key that never leaves its authenticator. */
export const Passkey = defineEntity({
  name: 'Passkey',
  tableName: 'passkeys',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    userId: p.uuid(),
    name: p.string().length(255),
    credentialId: p.blob(),
    publicKey: p.blob(),
    /** How often it was used, by its own count; 0 throughout for one that does not count. */
    counter: p.bigint('number'),
    /** How browsers reach it, such as `usb` or `internal`. */
    transports: p.json().$type<readonly string[]>(),
    /** It is kept by more than one device. */
    backedUp: p.boolean(),
    lastUsedAt: p.datetime().nullable(),
    createdAt: createdAt(),
  },
})

export type Passkey = InferEntity<typeof Passkey>
