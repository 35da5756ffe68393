import { defineEntity, p, type InferEntity } from '@mikro-orm/core'
import { createdAt, id, lastUpdatedAt, status } from '../../app/database/columns.ts'
import { tenantFilter } from '../../app/database/orm.ts'
import { secretText } from '../../app/database/secret-text.ts'
import type { SetterRanks } from '../../lib/access/set-from-above.ts'
import type { Place } from '../../app/secrets/vault.ts'

/** A receiver of alerts outside: of the whole organisation, or of one workspace. */
export const AlertWebhook = defineEntity({
  name: 'AlertWebhook',
  tableName: 'alert_webhooks',
  filters: { tenant: tenantFilter },
  properties: {
    id: id(),
    organisationId: p.uuid(),
    /** Null: it receives the alerts of the whole organisation. */
    workspaceId: p.uuid().nullable(),
    name: p.string().length(255),
    /** Readable: empty once 1.12.0 is finalized, and processes of earlier builds read it until then. */
    url: secretText().nullable(),
    /** Sealed; null: a process of an earlier build has set the URL. */
    urlSealed: p.blob().nullable(),
    /** Null: all. */
    events: p.array().nullable(),
    status: status('active', 'archived'),
    /** Sealed; erased when the row is archived. */
    secret: p.blob().nullable(),
    setterRanks: p.json<SetterRanks>().default('{}'),
    createdBy: p.uuid().nullable(),
    updatedBy: p.uuid().nullable(),
    createdAt: createdAt(),
    lastUpdatedAt: lastUpdatedAt(),
  },
})

export type AlertWebhook = InferEntity<typeof AlertWebhook>

type Row = Pick<AlertWebhook, 'id' | 'organisationId'>

const place = (column: string, { id: rowId, organisationId }: Row): Place => ({ organisationId, table: 'alert_webhooks', column, rowId })

/** The place where the secret of a webhook is sealed. */
export const secretPlace = (row: Row): Place => place('secret', row)

/** The place where the URL of a webhook is sealed. */
export const urlPlace = (row: Row): Place => place('url_sealed', row)
