import type { EntityManager } from '@mikro-orm/postgresql'
import { arrayText } from '../../lib/text/array-text.ts'
import { type Cursor, cursorOf } from './cursor.ts'
import { findLogs } from './find-logs.ts'
import type { LogRow } from './log-fields.ts'
import type { LogFilter } from './log.schema.ts'
import type { LogScope } from './logs.queries.ts'

/** The outcome of a search in bodies. */
export interface BodyMatches {
  readonly rows: readonly LogRow[]
  /** Logs whose bodies were looked at, and those that could not be: they are sealed, or in the log store. */
  readonly read: number
  readonly unreadable: number
  /** The part that the index of words answered; null: none. */
  readonly index: { readonly from: string | null } | null
  /** The place with which it ended; null: it came to the end. */
  readonly last: Cursor | null
}

/** One search ends after so long, wherever it is by then. */
export const longestMs = 1500
/** A look at some bodies that took less may take in more of them. */
const quickMs = 150
const [fewest, most] = [25, 400] as const

/**
 * Looks for a text in the bodies of the logs that a filter leaves, one after the other, until a page is full or the time is over. Upper and lower case
 * of ASCII letters count as the same.
 */
export async function searchBodies(
  em: EntityManager,
  scope: LogScope,
  { text, filter }: { readonly text: string; readonly filter: LogFilter },
): Promise<BodyMatches> {
  const begunAt = performance.now()
  const needles = needlesOf(text)
  const rows: LogRow[] = []
  let [read, unreadable, many] = [0, 0, fewest as number]
  let last: Cursor | null = null
  const found = { rows, index: null }
  for (;;) {
    const startedAt = performance.now()
    const after: Cursor | undefined = last ?? filter.after
    const logs = await findLogs(em, scope, { limit: many, filter: { ...filter, after } })
    const bodies = await lookInto(em, scope, { logs, needles })
    for (const log of logs) {
      const body = bodies.get(log.id)
      read += Number(body?.is_closed === false)
      unreadable += Number(body?.is_closed === true)
      last = cursorOf(log)
      if (body?.says === true) rows.push(log)
      if (rows.length === filter.page_size) return { ...found, read, unreadable, last }
    }
    if (logs.length < many) return { ...found, read, unreadable, last: null }
    if (performance.now() - begunAt > longestMs) return { ...found, read, unreadable, last }
    many = performance.now() - startedAt < quickMs ? Math.min(many * 2, most) : Math.max(many / 2, fewest) | 0
  }
}

interface Body extends Readonly<Record<string, unknown>> {
  readonly id: string
  readonly is_closed: boolean
  readonly says: boolean
}

/** SQL of a body in lower case, with bytes beyond ASCII as octal digits. */
export const printableOf = (column: string): string => `lower(encode(coalesce(${column}, ''), 'escape') COLLATE "C")`

async function lookInto(
  em: EntityManager,
  { organisationId }: LogScope,
  { logs, needles }: { readonly logs: readonly LogRow[]; readonly needles: readonly string[] },
): Promise<ReadonlyMap<string, Body>> {
  if (logs.length === 0) return new Map()
  const times = logs.map(({ created_at: at }) => at)
  // A millisecond more at each end, because the times of rows are finer.
  const [first, end] = [Math.min(...times) - 1, Math.max(...times) + 1].map((ms) => new Date(ms).toISOString())
  const rows = await em.execute<Body[]>(
    `SELECT s.id, s.is_closed, EXISTS (SELECT FROM unnest(?::text[]) needle WHERE position(needle IN s.asked) > 0 OR position(needle IN s.told) > 0) AS says
       FROM (SELECT b.id, b.sealed IS NOT NULL OR b.object_key IS NOT NULL AS is_closed,
                    ${printableOf('b.request_body')} AS asked, ${printableOf('b.response_body')} AS told
               FROM log_bodies b
              WHERE b.organisation_id = ? AND b.created_at BETWEEN ?::timestamptz AND ?::timestamptz AND b.id = ANY (?::uuid[]) OFFSET 0) s`,
    [arrayText(needles), organisationId, first, end, arrayText(logs.map(({ id }) => id))],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/** The habits of writers of JSON, each of which may go with each other: all in ASCII, slashes escaped, marks of HTML escaped, more marks escaped. */
const habits: readonly ((json: string) => string)[] = [
  (json) => json.replaceAll(/[\u007F-\uFFFF]/g, escaped),
  (json) => json.replaceAll('/', '\\/'),
  (json) => json.replaceAll(/[<>&\u2028\u2029]/g, escaped),
  (json) => json.replaceAll(/[=']/g, escaped),
  (json) => json.replaceAll(String.raw`\"`, String.raw`\u0022`),
]

/** Returns a text as bodies may have it: as it is, and as the writers of JSON write it. */
function needlesOf(text: string): readonly string[] {
  let spellings: ReadonlySet<string> = new Set([JSON.stringify(text).slice(1, -1)])
  for (const habit of habits) spellings = new Set([...spellings, ...[...spellings].map(habit)])
  return [...new Set([text, ...spellings].map(asPrinted))]
}

/** Returns a text as the database prints bytes: those beyond ASCII as three octal digits. */
function asPrinted(text: string): string {
  const printed = [...Buffer.from(text)].map((byte) =>
    byte >= 128 || byte === 0 ? `\\${byte.toString(8).padStart(3, '0')}` : byte === 92 ? '\\\\' : String.fromCharCode(byte),
  )
  return printed.join('').replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}
