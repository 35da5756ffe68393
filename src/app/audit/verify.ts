import { IsolationLevel, type EntityManager, type MikroORM } from '@mikro-orm/postgresql'
import { asSystem } from '../database/orm.ts'
import type { Vault } from '../secrets/vault.ts'
import { linkHash, noHash, type AuditRow } from './chain.ts'

/** A place that an auditor wrote down earlier: a chain that was cut back to before it, or rewritten, does not go through it. */
export interface Anchor {
  readonly seq: number
  readonly hash: string
}

/** The result of verifying the chain of one organisation. */
export interface ChainReport {
  readonly organisationId: string
  readonly slug: string
  readonly rows: number
  /** The last link, to be written down as an anchor; null when there are no rows. */
  readonly head: Anchor | null
  /** Why the chain does not hold, the first place first; empty when it does. */
  readonly faults: readonly string[]
}

interface Link extends AuditRow {
  readonly seq: string | null
  readonly hash: Uint8Array | null
}

const batch = 1000
const maxFaults = 20

/** Walks the chain of every organisation, or of the one with this slug or id. */
export function verifyAudit(
  { orm, vault }: { readonly orm: MikroORM; readonly vault: Vault },
  { organisation = null, anchor = null }: { readonly organisation?: string | null; readonly anchor?: Anchor | null } = {},
): Promise<readonly ChainReport[]> {
  const work = async (em: EntityManager) => {
    const organisations = await em.execute<{ id: string; slug: string }[]>(
      'SELECT id, slug FROM organisations WHERE ?::text IS NULL OR slug = ? OR id::text = ? ORDER BY slug',
      [organisation, organisation, organisation],
    )
    const reports: ChainReport[] = []
    for (const { id, slug } of organisations) reports.push(await walk(em, { vault, anchor, id, slug }))
    return reports
  }
  // One view of the rows and the head, whatever is written meanwhile.
  return asSystem(orm, work, { isolationLevel: IsolationLevel.REPEATABLE_READ })
}

interface Walk {
  readonly vault: Vault
  readonly anchor: Anchor | null
  readonly id: string
  readonly slug: string
}

async function walk(em: EntityManager, { vault, anchor, id, slug }: Walk): Promise<ChainReport> {
  const faults: string[] = []
  let [expected, previous]: [number, Uint8Array] = [1, noHash]
  for (let last = -1; ;) {
    const links = await em.execute<Link[]>(nextLinks, [id, last])
    for (const { seq, hash, ...row } of links) {
      const place = Number(seq ?? 0)
      const found = hash ?? noHash
      faults.push(...linkFaults({ place, expected, row, fits: linkHash(vault, { seq: place, previous, row }).equals(found) }))
      if (anchor?.seq === place && anchor.hash !== toHex(found)) faults.push(`row ${place} is not the one that the anchor names`)
      expected = place + 1
      previous = found
      last = place
    }
    if (links.length < batch || faults.length >= maxFaults) break
  }
  const end = { seq: expected - 1, hash: toHex(previous) }
  if (faults.length === 0) faults.push(...(await endFaults(em, { id, end, anchor })))
  return { organisationId: id, slug, rows: end.seq, head: end.seq === 0 ? null : end, faults: faults.slice(0, maxFaults) }
}

const toHex = (hash: Uint8Array) => Buffer.from(hash).toString('hex')

/** Rows that are in no chain come first, as place 0. */
const nextLinks = `
  SELECT seq::text AS seq, hash, id, organisation_id, workspace_id, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at,
         actor_type, actor_id, actor_name, user_id, action, resource_type, resource_id, method, uri, query, request_id, client_ip, country,
         response_status, request_headers, request_body, before, after, related, error
    FROM audit_logs WHERE organisation_id = ? AND coalesce(seq, 0) > ? ORDER BY coalesce(seq, 0) LIMIT ${batch}`

interface Found {
  readonly place: number
  readonly expected: number
  readonly row: AuditRow
  readonly fits: boolean
}

function linkFaults({ place, expected, row, fits }: Found): readonly string[] {
  if (place === 0) return [`the row ${row.id} of ${row.at} is in no chain`]
  if (place !== expected)
    return [place === expected + 1 ? `row ${expected} is missing` : `the rows ${expected} to ${place - 1} are missing`]
  return fits ? [] : [`row ${place} (${row.id}, ${row.at}) was changed, or follows another row than it did`]
}

interface End {
  readonly id: string
  readonly end: Anchor
  readonly anchor: Anchor | null
}

async function endFaults(em: EntityManager, { id, end, anchor }: End): Promise<readonly string[]> {
  const [head] = await em.execute<{ seq: string; hash: Uint8Array }[]>('SELECT seq, hash FROM audit_heads WHERE organisation_id = ?', [id])
  const recorded = { seq: Number(head?.seq ?? 0), hash: toHex(head?.hash ?? noHash) }
  return [
    ...(recorded.seq !== end.seq || recorded.hash !== end.hash
      ? [`the chain ends at row ${end.seq}, it had reached row ${recorded.seq}`]
      : []),
    ...(anchor !== null && anchor.seq > end.seq ? [`the anchor names row ${anchor.seq}, the chain ends at row ${end.seq}`] : []),
  ]
}
