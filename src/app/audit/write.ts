import type { EntityManager } from '@mikro-orm/postgresql'
import type { z } from 'zod'
import { uuidv7 } from '../../lib/uuid.ts'
import { notification, type ChangeNotice } from '../events/notice.ts'
import type { Actor } from '../route.ts'
import type { Vault } from '../secrets/vault.ts'
import { linkHash, type AuditRow } from './chain.ts'
import type { RowChange } from './changes.ts'
import { hashing, requestPlace, withoutSecrets } from './mask.ts'
import { bounded } from './summary.ts'

/** The schemas of a route. */
export interface RequestSchemas {
  readonly query?: z.core.$ZodType | undefined
  readonly body?: z.core.$ZodType | undefined
}

/** One write on the control plane, as the trail keeps it. */
export interface AuditEntry {
  readonly actor: Pick<Actor, 'name' | 'organisationId' | 'userId'> & {
    readonly type: Actor['type'] | 'system'
    readonly id: string | null
  }
  readonly workspaceId: string | null
  readonly action: string
  readonly resourceType: string
  readonly resourceId: string | null
  readonly method: string
  readonly uri: string
  readonly query: unknown
  readonly requestId: string
  readonly clientAddress: string
  /** The country that a trusted proxy states. */
  readonly country?: string | null
  readonly headers?: Readonly<Record<string, unknown>>
  readonly status: number
  readonly body: unknown
  /** The body stays whole however large it is. */
  readonly keepsBody?: true
  /** The schemas of the request, which mark its secrets. */
  readonly schemas?: RequestSchemas
  /** The rows that the write changed. The id distinguishes the row of the resource itself from the others. */
  readonly changes: readonly RowChange[]
  /** Why it was refused, when it was. */
  readonly error?: { readonly code: string; readonly message: string; readonly not_written_before?: number }
  readonly at: number
  /** The notice for event streams, which goes by the same statement. */
  readonly notice?: ChangeNotice
}

/** Appends the row in the transaction of the write itself: either both are there or neither. The end of the chain stays locked until it ends. */
export async function writeAudit(em: EntityManager, vault: Vault, entry: AuditEntry): Promise<void> {
  const row = toRow(entry, vault)
  const [end] = await em.execute<{ seq: string; hash: Uint8Array }[]>(takeEnd, [row.organisation_id])
  if (end === undefined) throw new Error('the audit chain gave no end')
  const hash = linkHash(vault, { seq: Number(end.seq), previous: end.hash, row })
  const values = { ...row, ...jsonColumns(row), seq: end.seq, hash }
  const columns = Object.keys(values)
  await em.execute(
    `WITH head AS (UPDATE audit_heads SET hash = ? WHERE organisation_id = ?)
     INSERT INTO audit_logs (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
     ${entry.notice === undefined ? '' : 'RETURNING pg_notify(?, ?)'}`,
    [hash, row.organisation_id, ...Object.values(values), ...(entry.notice === undefined ? [] : notification(entry.notice))],
  )
}

/** Counts on, and gives the hash of the row before. */
const takeEnd = `INSERT INTO audit_heads (organisation_id, seq, hash) VALUES (?, 1, '')
  ON CONFLICT (organisation_id) DO UPDATE SET seq = audit_heads.seq + 1 RETURNING seq, hash`

const jsonNames = ['query', 'request_headers', 'request_body', 'before', 'after', 'related', 'error'] as const

const jsonColumns = (row: AuditRow) => Object.fromEntries(jsonNames.map((name) => [name, toJson(row[name])]))
const toJson = (value: unknown) => (value === null || value === undefined ? null : JSON.stringify(value))

function toRow(entry: AuditEntry, vault: Vault): AuditRow {
  const own = entry.changes.find(({ id }) => id === entry.resourceId)
  const related = entry.changes.filter((change) => change !== own)
  const replace = hashing(vault)
  const keep = (value: unknown) => bounded(asJson(withoutSecrets(value, replace)))
  const wholeRequest = (value: unknown, schema?: z.core.$ZodType) => asJson(withoutSecrets(value, replace, requestPlace(schema)))
  const body = wholeRequest(entry.body, entry.schemas?.body)
  return {
    id: uuidv7(),
    organisation_id: entry.actor.organisationId,
    workspace_id: entry.workspaceId,
    at: new Date(entry.at).toISOString(),
    actor_type: entry.actor.type,
    actor_id: entry.actor.id,
    actor_name: entry.actor.name ?? null,
    user_id: entry.actor.userId,
    action: entry.action,
    resource_type: entry.resourceType,
    resource_id: entry.resourceId,
    method: entry.method,
    uri: entry.uri,
    query: bounded(wholeRequest(entry.query, entry.schemas?.query)),
    request_id: entry.requestId,
    client_ip: entry.clientAddress,
    country: entry.country ?? null,
    response_status: entry.status,
    request_headers: keep(entry.headers ?? null),
    request_body: entry.keepsBody === true ? body : bounded(body),
    before: keep(own?.before),
    after: keep(own?.after),
    related: related.length === 0 ? null : keep(related),
    error: keep(entry.error),
  }
}

/** Returns the value as the column will return it: without undefined parts. */
const asJson = (value: unknown): unknown => (value === undefined ? null : JSON.parse(JSON.stringify(value)))
