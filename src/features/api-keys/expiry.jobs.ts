import { jobEntry } from '../../app/audit/job-entry.ts'
import { writeAudit } from '../../app/audit/write.ts'
import { asSystem } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import type { Job } from '../../app/feature.ts'
import { isOn } from '../../config/effect.ts'

interface ExpiredKey {
  readonly id: string
  readonly organisation_id: string
  readonly workspace_id: string | null
  /** The name of the resource in the audit trail. */
  readonly resource: string
}

/** The tables whose rows expire, and the SQL of their name in the audit trail. */
const tables = { api_keys: `'api-key'`, providers: 'kind' } as const

type Table = keyof typeof tables

const batch = 200

/** Marks expired keys and providers, with a row in the trail for each, and forgets old secrets whose transition is over. */
export const expireKeys: Job = {
  name: 'expire-api-keys',
  every: '*/20 * * * * *',
  irreversible: true,
  async run(deps) {
    for (const table of ['api_keys', 'providers'] as const) while ((await expireSome(deps, table)) === batch);
    const now = new Date(deps.clock.now())
    await asSystem(deps.orm, (em) =>
      em.execute('UPDATE api_keys SET previous_key_hash = NULL, previous_key_expires_at = NULL WHERE previous_key_expires_at <= ?', [now]),
    )
  },
}

/** Alerts are mailed from this table. */
const noteExpired = `INSERT INTO limit_alerts (organisation_id, kind, owner_kind, owner_id) VALUES (?, 'expired', ?, ?)`
const ownerKinds = { api_keys: 'api-key', providers: 'provider' } as const satisfies Record<Table, string>

/** Ordered by organisation, so that two writers of trails cannot wait for each other. */
const markExpired = (table: Table) => `UPDATE ${table} SET status = 'expired', last_updated_at = now() WHERE id IN (
    SELECT id FROM ${table} WHERE status = 'active' AND expires_at <= ? ORDER BY organisation_id LIMIT ${batch} FOR UPDATE SKIP LOCKED)
  RETURNING id, organisation_id, workspace_id, ${tables[table]} AS resource`

const expireSome = ({ orm, vault, clock, config, level }: Deps, table: Table): Promise<number> =>
  asSystem(orm, async (em) => {
    const at = clock.now()
    const expired = await em.execute<ExpiredKey[]>(markExpired(table), [new Date(at)])
    for (const { id, organisation_id } of expired) await em.execute(noteExpired, [organisation_id, ownerKinds[table], id])
    if (isOn('AUDIT_LOGS_ENABLED', config, level))
      for (const row of expired.toSorted((one, other) => one.organisation_id.localeCompare(other.organisation_id)))
        await writeAudit(em, vault, entryOf(row, { table, at }))
    return expired.length
  })

const entryOf = (
  { id, organisation_id: organisationId, workspace_id: workspaceId, resource }: ExpiredKey,
  { table, at }: { table: Table; at: number },
) =>
  jobEntry({
    job: 'expire-api-keys',
    organisationId,
    workspaceId,
    action: 'expire',
    resourceType: resource,
    resourceId: id,
    changes: [{ table, id, before: { status: 'active' }, after: { status: 'expired' } }],
    at,
  })
