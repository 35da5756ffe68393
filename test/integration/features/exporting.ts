import { randomUUID } from 'node:crypto'
import { connect } from '../../../src/app/database/connect.ts'
import { startShipper } from '../../../src/app/journal/shipper.ts'
import { makeParts } from '../../../src/features/log-exports/run.ts'
import { openJournal } from '../../../src/gateway/journal/journal.ts'
import type { ExchangeRecord } from '../../../src/gateway/ports.ts'
import { silent } from '../../support/database.ts'
import { exchangeBodies, exchangeRecord, temporaryDirectory } from '../../support/journal.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

/** The control plane with a way to write logs, and to export them whole. */
export interface Exporting {
  readonly control: Control
  readonly acme: Tenant
  readonly rival: Tenant
  /** Writes logs; `texts` are the bodies of the request and the answer of each. */
  ship(records: readonly ExchangeRecord[], texts?: (at: number) => readonly [asked: string | Buffer, told: string | Buffer]): Promise<void>
  /** Drafts an export; returns its id. */
  draft(wanted: object, key?: string): Promise<string>
  /** Drafts, starts and finishes an export; returns its file. */
  whole(wanted: object, key?: string): Promise<Buffer>
  /** The file of an export that is done. */
  file(id: string, key?: string): Promise<Buffer>
  /** A signed link to the file of an export, at the address of this process. */
  link(id: string, key?: string): Promise<string>
  close(): Promise<void>
}

/** A log of Acme's, so many minutes old. */
export const recordOf = (tenant: Tenant, minutes: number, more: Parameters<typeof exchangeRecord>[0] = {}): ExchangeRecord =>
  exchangeRecord({
    id: randomUUID(),
    organisationId: tenant.organisationId,
    workspaceId: tenant.workspaceId,
    createdAt: Date.now() - minutes * 60_000,
    ...more,
  })

export async function startExporting(env: Readonly<Record<string, string>> = {}): Promise<Exporting> {
  const directory = temporaryDirectory()
  const control = await startControl({}, env)
  const { deps } = control.started
  const seal = deps.config.logSealing ? deps.vault.logs : null
  const journal = openJournal({ directory: directory.path, maxBodyBytes: 1 << 20, maxSpoolBytes: 1 << 26, seal })
  const [acme, rival] = [await control.createTenant('acme'), await control.createTenant('rival')]
  const { database } = deps.config
  const { runtime } = await connect(database, silent)
  const wordsUnder = deps.config.logSearchIndex ? deps.vault.logKey() : null
  const shipper = startShipper({ directory: directory.path, database, client: runtime, log: silent, wordsUnder })
  const link = async (id: string, key = acme.workspaceKey) => {
    const { status, text, body } = await control.call(key, 'GET', `/logs/exports/${id}/download`)
    if (status !== 200) throw new Error(text)
    const url = new URL(String(body['signed_url']))
    return `${control.origin}${url.pathname}${url.search}`
  }
  const file = async (id: string, key = acme.workspaceKey) => Buffer.from(await (await fetch(await link(id, key))).arrayBuffer())
  const draft = async (wanted: object, key = acme.workspaceKey) => {
    const { status, text, body } = await control.call(key, 'POST', '/logs/exports', { filters: {}, requested_data: ['id'], ...wanted })
    if (status !== 200) throw new Error(text)
    return String(body['id'])
  }
  return {
    control,
    acme,
    rival,
    draft,
    file,
    link,
    async ship(records, texts) {
      for (const [at, record] of records.entries()) {
        const [asked, told] = texts?.(at) ?? [`{"ask":"${record.id}"}`, `{"tell":"${record.id}"}`]
        journal.append(record, exchangeBodies(asked, told))
      }
      await shipper.flushed()
    },
    async whole(wanted, key = acme.workspaceKey) {
      const id = await draft(wanted, key)
      const started = await control.call(key, 'POST', `/logs/exports/${id}/start`)
      if (started.status !== 200) throw new Error(started.text)
      await makeParts(deps)
      return file(id, key)
    },
    async close() {
      await journal.close()
      await shipper.stop()
      directory.remove()
      await control.close()
    },
  }
}
