import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import type { SetterRanks } from '../../lib/access/set-from-above.ts'
import type { KeyType } from '../../gateway/ports.ts'
import type { RateLimit, UsageLimits } from '../limits/index.ts'

/** The defaults of every request with a key. */
export interface KeyDefaults {
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly config_id?: string | undefined
  readonly allow_config_override?: boolean | undefined
}

/** How often a key should be rotated. */
export interface RotationPolicy {
  readonly rotation_period: 'weekly' | 'monthly' | null
  readonly next_rotation_at: string | null
  readonly key_transition_period_ms: number | null
}

/** An API key. Only a keyed hash of its secret is stored. */
export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    /** Null exactly when the key is an organisation key. */
    workspaceId: p.uuid().nullable(),
    userId: p.uuid().nullable(),
    name: p.string().length(255),
    description: p.text().nullable(),
    type: p.text().$type<KeyType>(),
    status: status('active', 'exhausted', 'expired', 'archived'),
    creationMode: p.text().$type<'ui' | 'api' | 'auto'>().default('api'),
    scopes: p.array(),
    defaults: p.json<KeyDefaults>().default('{}'),
    rateLimits: p.json<readonly RateLimit[]>().nullable(),
    usageLimits: p.json<UsageLimits>().nullable(),
    usageResetAt: p.datetime().nullable(),
    alertEmails: p.array().default([]),
    rotationPolicy: p.json<RotationPolicy>().nullable(),
    expiresAt: p.datetime().nullable(),
    keyHash: p.blob(),
    keyHint: p.string().length(32),
    /** The secret before the last rotation; valid until `previousKeyExpiresAt`. */
    previousKeyHash: p.blob().nullable(),
    previousKeyExpiresAt: p.datetime().nullable(),
    /** Null: never. */
    rotatedAt: p.datetime().nullable(),
    createdBy: p.uuid().nullable(),
    /** The person who made the key or gave it its present secret; null: none is known. */
    makerId: p.uuid().nullable(),
    previousMakerId: p.uuid().nullable(),
    setterRanks: p.json<SetterRanks>().default('{}'),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type ApiKey = InferEntity<typeof ApiKey>
