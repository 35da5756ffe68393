import { randomUUID } from 'node:crypto'
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql'
import { isFields } from '../../lib/json/fields.ts'
import { pathText } from '../../lib/json/json-path.ts'
import { asSystem } from '../database/orm.ts'
import type { Deps } from '../deps.ts'
import type { Vault } from '../secrets/vault.ts'
import { holds, noHash, redactionProof, type AuditRow, type ChainPosition, type Redaction } from './chain.ts'
import { chainedOrganisations, readLinks, type ChainOwner, type Link } from './links.ts'
import { cleaning, redactableColumns, type CleaningRules } from './redactable.ts'
import { writeAudit } from './write.ts'

export interface RedactionOptions {
  readonly organisation: string | null
  /** The person at whose word it is done. */
  readonly by: string
  /** True: no row is changed. */
  readonly dryRun: boolean
  /** The knowledge by which the secrets of a stored row are found. */
  readonly clean: CleaningRules
}

/** A row with secrets, and where they stand. */
interface RedactedRow {
  readonly seq: number
  readonly fields: readonly string[]
}

/** The result for one organisation. */
export interface RedactionReport {
  readonly organisationId: string
  readonly slug: string
  /** The number of rows that were looked at. */
  readonly rows: number
  readonly redacted: readonly RedactedRow[]
  /** The rows that stay as they are because they do not hold: a redaction would hide that. */
  readonly broken: readonly number[]
}

type Services = Pick<Deps, 'clock'> & { readonly orm: MikroORM; readonly vault: Vault }

/**
 * Takes out of stored rows the secrets that this version would not have written. A row keeps its link, and gets a keyed proof over the rest; the rows
 * of each batch are named by a row of their own at the end of the chain. The next run continues one that was ended, since clean rows stay as they
 * are.
 */
export async function redactAudit(services: Services, redacting: RedactionOptions): Promise<readonly RedactionReport[]> {
  const organisations = await asSystem(services.orm, (em) => chainedOrganisations(em, redacting.organisation))
  const reports: RedactionReport[] = []
  for (const organisation of organisations) reports.push(await redactChain(services, organisation, redacting))
  return reports
}

async function redactChain(services: Services, { id, slug }: ChainOwner, redacting: RedactionOptions): Promise<RedactionReport> {
  let [at, rows]: [ChainProgress, number] = [{ seq: 0, hash: noHash }, 0]
  const redacted: RedactedRow[] = []
  const broken: number[] = []
  // Rows that come meanwhile are written without secrets.
  const end = await asSystem(services.orm, (em) => endOf(em, id))
  while (at.seq < end) {
    const batch = await asSystem(services.orm, (em) => redactBatch(em, services, { id, at, redacting }))
    if (batch === null) break
    at = batch.reached
    rows += batch.rows
    redacted.push(...batch.redacted)
    broken.push(...batch.broken)
  }
  return { organisationId: id, slug, rows, redacted, broken }
}

async function endOf(em: EntityManager, organisationId: string): Promise<number> {
  const [head] = await em.execute<{ seq: string }[]>('SELECT seq FROM audit_heads WHERE organisation_id = ?', [organisationId])
  return Number(head?.seq ?? 0)
}

/** The last link that was looked at. */
interface ChainProgress {
  readonly seq: number
  readonly hash: Uint8Array
}

interface Batch {
  readonly id: string
  readonly at: ChainProgress
  readonly redacting: RedactionOptions
}

interface BatchDone extends Pick<RedactionReport, 'rows' | 'redacted' | 'broken'> {
  readonly reached: ChainProgress
}

/** One transaction: the rows, and the row that names them. Null: there are no more. */
async function redactBatch(em: EntityManager, services: Services, { id, at, redacting }: Batch): Promise<BatchDone | null> {
  await em.execute('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [`gatehouse:audit-redact:${id}`])
  const links = await readLinks(em, { organisationId: id, after: at.seq })
  const redacted: RedactedRow[] = []
  const broken: number[] = []
  let reached = at
  for (const link of links) {
    const placed = { seq: link.place, previous: reached.hash, hash: link.hash, row: link.row }
    const fields = await redactLink(em, services, { link, placed, redacting })
    if (fields === null) broken.push(link.place)
    else if (fields.length > 0) redacted.push({ seq: link.place, fields })
    reached = { seq: link.place, hash: link.hash }
  }
  if (redacted.length > 0 && !redacting.dryRun) await note(em, services, { organisationId: id, redacted, by: redacting.by })
  return links.length === 0 ? null : { reached, rows: links.length, redacted, broken }
}

interface LinkInQuestion {
  readonly link: Link
  readonly placed: ChainPosition
  readonly redacting: RedactionOptions
}

/** Returns the places of secrets in a row, which it has no longer; null: the row does not hold. */
async function redactLink(
  em: EntityManager,
  { vault, clock }: Services,
  { link, placed, redacting }: LinkInQuestion,
): Promise<readonly string[] | null> {
  if (!holds(vault, placed, link.redaction)) return null
  const row = cleaning(link.row, redacting.clean)
  const fields = redactableColumns.flatMap((name) => placesOf(link.row[name], row[name], [name]))
  if (fields.length === 0 || redacting.dryRun) return fields
  const said = { at: new Date(clock.now()).toISOString(), by: redacting.by }
  await store(em, row, { ...said, proof: redactionProof(vault, { ...placed, row }, said) })
  return fields
}

/** Returns the paths at which two values differ. */
function placesOf(before: unknown, after: unknown, path: readonly PropertyKey[]): readonly string[] {
  if (Array.isArray(before) && Array.isArray(after)) return before.flatMap((item, at) => placesOf(item, after[at], [...path, at]))
  if (isFields(before) && isFields(after))
    return Object.keys(before).flatMap((name) => placesOf(before[name], after[name], [...path, name]))
  return before === after ? [] : [pathText(path).slice(0, longestPlace)]
}

/** Names of members are the caller's. */
const longestPlace = 300

async function store(em: EntityManager, row: AuditRow, redaction: Redaction): Promise<void> {
  const values = redactableColumns.map((name) => (row[name] === null ? null : JSON.stringify(row[name])))
  await em.execute(
    `UPDATE audit_logs SET ${redactableColumns.map((name) => `${name} = ?`).join(', ')}, redaction = ? WHERE organisation_id = ? AND id = ?`,
    [...values, JSON.stringify(redaction), row.organisation_id, row.id],
  )
}

interface RedactionNote {
  readonly organisationId: string
  readonly redacted: readonly RedactedRow[]
  readonly by: string
}

const note = (em: EntityManager, { vault, clock }: Services, { organisationId, redacted, by }: RedactionNote): Promise<void> =>
  writeAudit(em, vault, {
    actor: { type: 'operator', id: null, name: by, organisationId, userId: null },
    workspaceId: null,
    action: 'redact',
    resourceType: 'audit-log',
    resourceId: null,
    method: 'COMMAND',
    uri: 'gatehouse audit redact',
    query: null,
    requestId: randomUUID(),
    clientAddress: 'command line',
    status: 200,
    body: { rows: redacted },
    keepsBody: true,
    changes: [],
    at: clock.now(),
  })
