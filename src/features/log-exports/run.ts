import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { inTenant } from '../../app/database/orm.ts'
import type { Deps } from '../../app/deps.ts'
import { ApiError } from '../../lib/errors.ts'
import { claim, noteFailure, storePart, whileClaimed, type ClaimedExport, type Part, type Progress } from './claims.ts'
import type { Column, Piece, Row } from './pieces.ts'
import { sizeOf } from './pieces.ts'
import { sourceOf } from './sources.ts'
import { formats } from './formats.ts'

const gzip = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.gzip)

/** A run ends after so long, so that a process which stops is not waited for; the next run goes on. */
const runMs = 20_000

/** Makes parts of exports, one after the other, until none waits or the time of a run is over. */
export async function makeParts(deps: Deps): Promise<void> {
  const until = performance.now() + runMs
  while (performance.now() < until) {
    const claimed = await claim(deps)
    if (claimed === null) return
    await makePart(deps, claimed)
  }
}

async function makePart(deps: Deps, claimed: ClaimedExport): Promise<void> {
  try {
    await whileClaimed(deps, claimed, async () => {
      const part = await nextPart(deps, claimed)
      // Level 1: the fastest. Most of a log is repeated text.
      const packed = await gzip(part.bytes, { level: 1 })
      const kept = await storePart(deps, claimed, { ...part, packed })
      if (kept && part.isLast)
        deps.log.info({ export: claimed.id, rows: claimed.rows + part.rows, bytes: claimed.bytes + part.bytes.length }, 'an export is done')
    })
  } catch (error) {
    deps.log.warn({ err: error, export: claimed.id, attempts: claimed.attempts + 1 }, 'a part of an export could not be made')
    await noteFailure(deps, claimed, failureOf(error))
  }
}

/** A refusal stays one: a field that is denied by now, a filter that this release does not support. */
const failureOf = (error: unknown) => ({
  message: error instanceof ApiError ? error.message : 'An internal error stopped it; see the log of the server.',
  isFinal: error instanceof ApiError && error.status < 500,
})

/** A part ends with the page that reaches one of these bounds. */
const enoughBytes = 4 * 1024 * 1024
const enoughMs = 5_000
/** About so many: the last page may take it over. */
export const mostRowsOfPart = 10_000

async function nextPart(deps: Deps, claimed: ClaimedExport): Promise<Part> {
  const { columns, next } = sourceOf(deps, claimed)
  const rows: Row[] = []
  const until = performance.now() + enoughMs
  let size = 0
  let progress: Progress | null = claimed.progress
  for (;;) {
    const page = await next(progress)
    progress = page.progress
    rows.push(...page.rows)
    size += page.rows.reduce((sum, row) => sum + sizeOf(row), 0)
    const isEnough = size >= enoughBytes || rows.length >= mostRowsOfPart || performance.now() >= until
    if (!page.isEnd && !isEnough) continue
    const piece = formats[claimed.format].piece(rows, columns, claimed.bytes)
    const bytes = page.isEnd ? await ended(deps, claimed, { piece, columns }) : piece.bytes
    return { bytes, note: piece.note, rows: rows.length, progress, isLast: page.isEnd }
  }
}

/** Returns the last piece of a file with the bytes behind it. */
async function ended(
  { orm }: Deps,
  { id, organisationId, format, bytes }: ClaimedExport,
  { piece, columns }: { readonly piece: Piece; readonly columns: readonly Column[] },
): Promise<Uint8Array> {
  const { end } = formats[format]
  if (end === undefined) return piece.bytes
  const stored = await inTenant(orm, organisationId, (em) =>
    em.execute<{ note: unknown }[]>('SELECT note FROM log_export_parts WHERE export_id = ? AND note IS NOT NULL ORDER BY part', [id]),
  )
  const notes = [...stored.map(({ note }) => note), ...(piece.note === null ? [] : [piece.note])]
  return Buffer.concat([piece.bytes, end(notes, columns, bytes + piece.bytes.length)])
}
