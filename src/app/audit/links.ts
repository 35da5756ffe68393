import type { EntityManager } from '@mikro-orm/postgresql'
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

/** The number of links that are read at once. */
export const linksAtOnce = 1000

/** Reads the next links of an organisation; rows that are in no chain come first. */
export async function readLinks(em: EntityManager, { organisationId, after }: { readonly organisationId: string; readonly after: number }) {
  const rows = await em.execute<StoredLink[]>(nextLinks, [organisationId, after])
  return rows.map(({ seq, hash, redaction, ...row }): Link => ({ place: Number(seq ?? 0), hash: hash ?? noHash, redaction, row }))
}

const nextLinks = `
  SELECT seq::text AS seq, hash, redaction, id, organisation_id, workspace_id, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at,
         actor_type, actor_id, actor_name, user_id, action, resource_type, resource_id, method, uri, query, request_id, client_ip, country,
         response_status, request_headers, request_body, before, after, related, error
    FROM audit_logs WHERE organisation_id = ? AND coalesce(seq, 0) > ? ORDER BY coalesce(seq, 0) LIMIT ${linksAtOnce}`

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
