import { canonicalJson } from '../../lib/json/canonical-json.ts'
import type { Vault } from '../secrets/vault.ts'

/** A row of the trail as JSON values, under the names of its columns. */
export interface AuditRow {
  readonly id: string
  readonly organisation_id: string
  readonly workspace_id: string | null
  /** ISO 8601, to the millisecond. */
  readonly at: string
  readonly actor_type: string
  readonly actor_id: string | null
  readonly actor_name: string | null
  readonly user_id: string | null
  readonly action: string
  readonly resource_type: string
  readonly resource_id: string | null
  readonly method: string
  readonly uri: string
  readonly query: unknown
  readonly request_id: string
  readonly client_ip: string
  readonly country: string | null
  readonly response_status: number
  readonly request_headers: unknown
  readonly request_body: unknown
  readonly before: unknown
  readonly after: unknown
  readonly related: unknown
  readonly error: unknown
}

/** The predecessor hash of the first row of a chain. */
export const noHash = Buffer.alloc(0)

/** The hash of the row at this place: only a holder of the installation's key can make one that fits. */
export const linkHash = (vault: Vault, { seq, previous, row }: { seq: number; previous: Uint8Array; row: AuditRow }): Buffer =>
  vault.hashKey(`audit-chain:${seq}:${toHex(previous)}:${canonicalJson(row)}`)

/** A note beside a row from which secrets were taken out. */
export interface Redaction {
  /** ISO 8601. */
  readonly at: string
  readonly by: string
  /** The keyed hash over the row as it is since, in hex. */
  readonly proof: string
}

/** A row at its place in the chain. */
export interface ChainPosition {
  readonly seq: number
  /** The hash of the row before. */
  readonly previous: Uint8Array
  /** The hash of the row, which a redaction leaves as it is. */
  readonly hash: Uint8Array
  readonly row: AuditRow
}

export const toHex = (hash: Uint8Array): string => Buffer.from(hash).toString('hex')

/** Returns the proof of a redaction: as with a link, no party without the key of the installation can make one. */
export const redactionProof = (
  { hashKey }: Pick<Vault, 'hashKey'>,
  { seq, previous, hash, row }: ChainPosition,
  { at, by }: Pick<Redaction, 'at' | 'by'>,
): string => toHex(hashKey(`audit-redaction:${seq}:${toHex(previous)}:${toHex(hash)}:${canonicalJson({ at, by, row })}`))

/** Returns true if a row is as it was written, or as its redaction left it. */
export const holds = (vault: Vault, placed: ChainPosition, redaction: Redaction | null): boolean =>
  redaction === null
    ? linkHash(vault, placed).equals(placed.hash)
    : redactionProof(vault, placed, redaction) === redaction.proof && typeof redaction.at === 'string' && typeof redaction.by === 'string'
