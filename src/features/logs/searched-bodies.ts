import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import { decodeLogObject, type LogBodies } from '../../app/log-store/log-object.ts'
import { LogStoreError } from '../../app/log-store/log-store.ts'
import { decodeConfidential, SealError } from '../../gateway/ports/journal.ts'
import { arrayText } from '../../lib/text/array-text.ts'
import { inflated } from '../../lib/text/inflate.ts'
import type { LogRow } from './log-fields.ts'
import type { LogScope } from './logs.queries.ts'
import { printableOf } from './search-bodies.ts'

/** The bodies of a request and of its answer; null: there is none, or it cannot have the words. */
export type SearchedBodies = readonly (Uint8Array | null)[]

interface BodySearch {
  readonly em: EntityManager
  readonly scope: LogScope
  readonly logs: readonly LogRow[]
  readonly words: readonly string[]
  /** True: open sealed bodies, and fetch those in the log store. */
  readonly fetches: boolean
  readonly deps: Pick<Deps, 'vault' | 'logStore'>
}

interface Row extends SearchableBodies, Readonly<Record<string, unknown>> {
  readonly id: string
  readonly sealed: Buffer | null
  readonly object_key: string | null
}

/** Objects that are fetched at a time. */
const atOnce = 16
const ofAscii = /^[a-z\d]+$/

/** Returns the bodies of logs by their ids; of those that cannot be read that they are closed. */
export async function readBodies(wanted: BodySearch): Promise<ReadonlyMap<string, SearchedBodies | 'closed'>> {
  const rows = await readRows(wanted)
  const found = new Map<string, SearchedBodies | 'closed'>()
  const byId = new Map(wanted.logs.map((log) => [log.id, log]))
  for (let from = 0; from < rows.length; from += atOnce)
    await Promise.all(
      rows.slice(from, from + atOnce).map(async (row) => {
        const log = byId.get(row.id)
        if (log !== undefined) found.set(row.id, await bodiesOf(row, log, wanted))
      }),
    )
  return found
}

/** SQL of a body that has all of some texts, or is compressed, else null. */
const mayHave = (body: string, headers: string) =>
  `CASE WHEN jsonb_exists(${headers}, 'content-encoding') OR NOT EXISTS (SELECT FROM unnest(?::text[]) needle WHERE position(needle IN ${printableOf(body)}) = 0) THEN ${body} END`

/** Words of ASCII stand in bodies as they are: only those that have all of them are read. */
async function readRows({ em, scope: { organisationId }, logs, words }: BodySearch): Promise<readonly Row[]> {
  if (logs.length === 0) return []
  const times = logs.map(({ created_at: at }) => at)
  // A millisecond more at each end, because the times of rows are finer.
  const [first, end] = [Math.min(...times) - 1, Math.max(...times) + 1].map((ms) => new Date(ms).toISOString())
  const needles = arrayText(words.filter((word) => ofAscii.test(word)))
  return em.execute<Row[]>(
    `SELECT b.id, b.sealed, b.object_key, b.request_headers, b.response_headers, ${mayHave('b.request_body', 'b.request_headers')} AS request_body,
            ${mayHave('b.response_body', 'b.response_headers')} AS response_body FROM log_bodies b
      WHERE b.organisation_id = ? AND b.created_at BETWEEN ?::timestamptz AND ?::timestamptz AND b.id = ANY (?::uuid[])`,
    [needles, needles, organisationId, first, end, arrayText(logs.map(({ id }) => id))],
  )
}

async function bodiesOf(row: Row, log: LogRow, { fetches, deps }: BodySearch): Promise<SearchedBodies | 'closed'> {
  if (row.sealed === null && row.object_key === null) return plainOf(row)
  if (!fetches) return 'closed'
  try {
    const held = row.object_key === null ? row : await fetched(row.object_key, log, deps)
    if (held === null) return 'closed'
    return await plainOf(held.sealed === null ? held : unsealed(held.sealed, log, deps))
  } catch (error) {
    if (error instanceof LogStoreError || error instanceof SealError) return 'closed'
    throw error
  }
}

/** Bodies as they were sent, with their headers. */
type SearchableBodies = Pick<LogBodies, 'request_headers' | 'response_headers' | 'request_body' | 'response_body'>

const plainOf = (held: SearchableBodies): Promise<SearchedBodies> =>
  Promise.all([plain(held.request_body, held.request_headers), plain(held.response_body, held.response_headers)])

const plain = async (body: Buffer | null, headers: SearchableBodies['request_headers']): Promise<Uint8Array | null> =>
  body === null ? null : inflated(body, headers['content-encoding'])

/** Returns the bodies in the log store; null: there are none, or there is no store any longer. */
async function fetched(key: string, log: LogRow, { logStore }: BodySearch['deps']): Promise<LogBodies | null> {
  const object = await logStore?.get(key)
  return object === undefined || object === null ? null : decodeLogObject({ id: log.id, organisationId: log.organisation_id }, object)
}

function unsealed(
  sealed: Buffer,
  { id, organisation_id: organisationId, created_at: createdAt }: LogRow,
  { vault }: BodySearch['deps'],
): SearchableBodies {
  const { request, response, requestHeaders, responseHeaders } = decodeConfidential(
    vault.logs.open({ id, organisationId, createdAt }, sealed),
  )
  return {
    request_body: bufferOf(request),
    response_body: bufferOf(response),
    request_headers: requestHeaders,
    response_headers: responseHeaders,
  }
}

const bufferOf = (bytes: Uint8Array | null): Buffer | null =>
  bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
