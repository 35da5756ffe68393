import { IsolationLevel, type EntityManager, type MikroORM } from '@mikro-orm/postgresql'
import { asSystem } from '../database/orm.ts'
import type { Vault } from '../secrets/vault.ts'
import { holds, noHash, toHex, type AuditRow, type Redaction } from './chain.ts'
import { chainedOrganisations, readLinks } from './links.ts'

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
  /** The number of rows from which secrets were taken out, with a proof that holds. */
  readonly redacted: number
  /** The last link, to be written down as an anchor; null when there are no rows. */
  readonly head: Anchor | null
  /** Why the chain does not hold, the first place first; empty when it does. */
  readonly faults: readonly string[]
}

const maxFaults = 20

/** Walks the chain of every organisation, or of the one with this slug or id. */
export function verifyAudit(
  { orm, vault }: { readonly orm: MikroORM; readonly vault: Vault },
  { organisation = null, anchor = null }: { readonly organisation?: string | null; readonly anchor?: Anchor | null } = {},
): Promise<readonly ChainReport[]> {
  const work = async (em: EntityManager) => {
    const organisations = await chainedOrganisations(em, organisation)
    const reports: ChainReport[] = []
    for (const { id, slug } of organisations) reports.push(await walk(em, { vault, anchor, id, slug }))
    return reports
  }
  // One view of the rows and the head, independent of concurrent writes.
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
  let [expected, redacted, previous]: [number, number, Uint8Array] = [1, 0, noHash]
  for (let last = -1; ;) {
    const links = await readLinks(em, { organisationId: id, after: last })
    for (const { place, hash, redaction, row } of links) {
      const fits = holds(vault, { seq: place, previous, hash, row }, redaction)
      faults.push(...linkFaults({ place, expected, row, redaction, fits }))
      if (anchor?.seq === place && anchor.hash !== toHex(hash)) faults.push(`row ${place} is not the one that the anchor names`)
      if (fits && redaction !== null) redacted += 1
      expected = place + 1
      previous = hash
      last = place
    }
    if (links.length === 0 || faults.length >= maxFaults) break
  }
  const end = { seq: expected - 1, hash: toHex(previous) }
  if (faults.length === 0) faults.push(...(await endFaults(em, { id, end, anchor })))
  return { organisationId: id, slug, rows: end.seq, redacted, head: end.seq === 0 ? null : end, faults: faults.slice(0, maxFaults) }
}

interface RowCheck {
  readonly place: number
  readonly expected: number
  readonly row: AuditRow
  readonly redaction: Redaction | null
  readonly fits: boolean
}

function linkFaults({ place, expected, row, redaction, fits }: RowCheck): readonly string[] {
  if (place === 0) return [`the row ${row.id} of ${row.at} is in no chain`]
  if (place !== expected)
    return [place === expected + 1 ? `row ${expected} is missing` : `the rows ${expected} to ${place - 1} are missing`]
  if (fits) return []
  const name = `row ${place} (${row.id}, ${row.at})`
  return redaction === null
    ? [`${name} was changed, or follows another row than it did`]
    : [`${name} was redacted without the key of the installation, was changed after its redaction, or follows another row than it did`]
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
