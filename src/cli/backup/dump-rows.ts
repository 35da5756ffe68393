import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { CommandError, UsageError } from '../failure.ts'

const newline = 0x0a
/** pg_dump and pg_restore write it last: a dump without it lacks its end, such as keys and policies. */
const lastLine = '-- PostgreSQL database dump complete'
const copyLine = /^COPY (.+?) \([^\n]*\) FROM stdin;\r?$/
/** A line of SQL that names the next table is never longer than this. */
const longestHead = 64 * 1024

/** Counts the rows of each table in a dump of pg_dump: of any format, or its SQL on standard input (`-`). */
export async function countDump(file: string): Promise<ReadonlyMap<string, number>> {
  if (file === '-') return countCopied(process.stdin)
  if (!(await isArchive(file))) return countCopied(createReadStream(file))
  const restore = spawn('pg_restore', ['--data-only', '--file=-', file], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(restore, 'close').catch((error: unknown) => {
    throw new CommandError(
      `pg_restore cannot be run (${error instanceof Error ? error.message : String(error)}): where it is installed, run "pg_restore --data-only --file=- ${file}", and pipe it into "gatehouse backup verify -" here`,
    )
  })
  const [counts] = await Promise.all([countCopied(restore.stdout), ended])
  if (restore.exitCode !== 0) throw new CommandError(`pg_restore could not read ${file} whole`)
  return counts
}

/** A custom, tar or directory archive needs pg_restore; all else is SQL. */
async function isArchive(file: string): Promise<boolean> {
  try {
    if ((await stat(file)).isDirectory()) return true
    const handle = await open(file)
    try {
      const { buffer } = await handle.read(Buffer.alloc(512), 0, 512, 0)
      return buffer.toString('latin1', 0, 5) === 'PGDMP' || buffer.toString('latin1', 257, 262) === 'ustar'
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Counts the lines of each COPY of an SQL script, whose rows are a line each. Throws a CommandError for one that was cut. */
export async function countCopied(script: Readable): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  const count = (name: string, rows: number) => counts.set(name, (counts.get(name) ?? 0) + rows)
  let table: string | null = null
  let isComplete = false
  for await (const line of headsOfLines(script)) {
    if (table === null) {
      isComplete ||= line.startsWith(lastLine)
      table = copiedTable(line)
      if (table !== null) count(table, 0)
    } else if (/^\\\.\r?$/.test(line)) table = null
    else count(table, 1)
  }
  if (table !== null) throw new CommandError(`the dump ends within the rows of ${table}`)
  if (!isComplete) throw new CommandError(`the dump lacks its last line, "${lastLine}": it was cut`)
  return counts
}

/** Returns the table whose rows come behind a line of SQL; null: none. */
function copiedTable(line: string): string | null {
  if (line.startsWith('INSERT INTO ')) throw new CommandError('the dump was made with --inserts, whose rows cannot be counted')
  return copyLine.exec(line)?.[1] ?? null
}

/** The lines of a text whose rows may have any length, cut to the length that identifies them. */
async function* headsOfLines(script: Readable): AsyncGenerator<string> {
  let head: Buffer[] = []
  let kept = 0
  const keep = (part: Buffer) => {
    if (kept >= longestHead || part.length === 0) return
    head.push(part.subarray(0, longestHead - kept))
    kept += part.length
  }
  for await (const chunk of script) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk))
    let from = 0
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, from)) {
      keep(bytes.subarray(from, end))
      yield Buffer.concat(head).toString()
      head = []
      kept = 0
      from = end + 1
    }
    keep(bytes.subarray(from))
  }
  if (kept > 0) yield Buffer.concat(head).toString()
}
