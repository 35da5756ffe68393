import { asSystem } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import type { Job } from '../../app/feature.ts'
import { urlPlace } from './webhook.entity.ts'

const batch = 100

interface Readable {
  readonly id: string
  readonly organisation_id: string
  readonly url: string
}

/** Seals the URLs of receivers that a process of an earlier build has set. */
export const sealUrls: Job = {
  name: 'alerts.seal-urls',
  every: '*/10 * * * * *',
  irreversible: false,
  async run(deps) {
    if (deps.vault.sealed !== null) return
    for (let found = batch; found === batch;) found = await sealSome(deps)
  },
}

async function sealSome({ orm, vault }: Deps): Promise<number> {
  const rows = await asSystem(orm, (em) =>
    em.execute<Readable[]>(
      `SELECT id, organisation_id, url FROM alert_webhooks WHERE url_sealed IS NULL AND url IS NOT NULL AND status = 'active' ORDER BY id LIMIT ${batch}`,
    ),
  )
  for (const { id, organisation_id: organisationId, url } of rows) {
    const sealed = Buffer.from(await vault.encrypt(urlPlace({ id, organisationId }), url))
    // A URL that was set meanwhile is another one.
    await asSystem(orm, (em) =>
      em.execute('UPDATE alert_webhooks SET url_sealed = ? WHERE id = ? AND url = ? AND url_sealed IS NULL', [sealed, id, url]),
    )
  }
  return rows.length
}
