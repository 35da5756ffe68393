import type { EntityManager } from '@mikro-orm/postgresql'
import { fittingIds } from '../database/page-bytes.ts'
import { noHash, type AuditRow, type Redaction } from './chain.ts'

interface StoredLink extends AuditRow {
  readonly seq: string | null
  readonly hash: Uint8Array | null
  readonly redaction: Redaction | null
}

/** A row of a chain as it is stored. */
export interface Link {
  /** 0: the row is in no chain. */
  readonly place: number
  readonly hash: Uint8Array
  readonly redaction: Redaction | null
  readonly row: AuditRow
}

/** The most links that are read at once; fewer where they are large. */
const linksAtOnce = 1000

/** Reads the next links of an organisation, none at the end of its chain; rows that are in no chain come first. */
export async function readLinks(em: EntityManager, { organisationId, after }: { readonly organisationId: string; readonly after: number }) {
  const next = await em.execute<{ id: string }[]>(nextIds, [organisationId, after])
  const found = next.map(({ id }) => id)
  const ids = await fittingIds(em, 'audit_logs', found)
  if (ids.length === 0) return []
  const rows = await em.execute<StoredLink[]>(linksOf(ids.length), [organisationId, ...ids])
  return rows.map(({ seq, hash, redaction, ...row }): Link => ({ place: Number(seq ?? 0), hash: hash ?? noHash, redaction, row }))
}

const nextIds = `SELECT id FROM audit_logs WHERE organisation_id = ? AND coalesce(seq, 0) > ? ORDER BY coalesce(seq, 0) LIMIT ${linksAtOnce}`

const linksOf = (count: number) => `
  SELECT seq::text AS seq, hash, redaction, id, organisation_id, workspace_id, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at,
         actor_type, actor_id, actor_name, user_id, action, resource_type, resource_id, method, uri, query, request_id, client_ip, country,
         response_status, request_headers, request_body, before, after, related, error
    FROM audit_logs WHERE organisation_id = ? AND id IN (${Array.from({ length: count }, () => '?').join(', ')}) ORDER BY coalesce(seq, 0)`

/** An organisation whose chain is looked at. */
export interface ChainOwner {
  readonly id: string
  readonly slug: string
}

/** Returns every organisation, or the one with this slug or id. */
export const chainedOrganisations = (em: EntityManager, organisation: string | null): Promise<readonly ChainOwner[]> =>
  em.execute<ChainOwner[]>('SELECT id, slug FROM organisations WHERE ?::text IS NULL OR slug = ? OR id::text = ? ORDER BY slug', [
    organisation,
    organisation,
    organisation,
  ])
