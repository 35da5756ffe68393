import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { notFound } from '../../app/database/find.ts'
import { asSystem, inTenant } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import type { FileRoute } from '../../app/feature.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import { partPlace } from './claims.ts'
import { demandFields } from './denied-fields.ts'
import { demandKept } from './exports.routes.ts'
import { formats } from './formats.ts'
import { LogExport } from './log-export.entity.ts'
import { demandSignature } from './signed-url.ts'

const gunzip = promisify<Uint8Array, Buffer>(zlib.gunzip)

/** The file of an export, for the holder of a link to it. Fields that the organisation has denied since are left out. */
export const exportFile: FileRoute = {
  path: '/logs/exports/:exportId/file',
  async open({ exportId: id = '', expires, signature }, deps) {
    demandSignature({ id, expires, signature }, deps)
    const row = isUuid(id) ? await asSystem(deps.orm, (em) => em.findOne(LogExport, { id, status: 'success' })) : null
    if (row === null) throw notFound('export', id, 'exportId')
    demandKept(row, deps.clock.now())
    await inTenant(deps.orm, row.organisationId, (em) => demandFields(em, row.organisationId, row.fields))
    const { type, extension } = formats[row.format]
    return {
      organisationId: row.organisationId,
      name: `logs-${row.id}.${extension}`,
      type,
      length: row.bytes,
      bytes: partsOf(row, deps),
    }
  },
}

interface StoredContent {
  readonly is_sealed: boolean
  readonly content: Uint8Array
}

/** One part in memory at a time, each read in a transaction of its own, so that a slow client holds none open. */
async function* partsOf({ id, organisationId, parts }: LogExport, { orm, vault }: Pick<Deps, 'orm' | 'vault'>): AsyncGenerator<Uint8Array> {
  for (let part = 0; part < parts; part += 1) {
    const rows = await inTenant(orm, organisationId, (em) =>
      em.execute<StoredContent[]>('SELECT is_sealed, content FROM log_export_parts WHERE export_id = ? AND part = ?', [id, part]),
    )
    const [kept] = rows
    if (kept === undefined) throw new Error(`part ${part} of the export ${id} is gone`)
    const bytes = await gunzip(kept.is_sealed ? vault.logs.open(partPlace({ id, organisationId }, part), kept.content) : kept.content)
    if (bytes.length > 0) yield bytes
  }
}
