import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Chunks } from '../bytes.ts'
import { partName, refuseTarget } from './parts.ts'

/** The destination of an archive. */
export interface Target {
  readonly file: string
  /** The most bytes of one file; null: all in one. */
  readonly split: number | null
}

/**
 * Writes an archive to its file, or to parts of at most `split` bytes. They get their names when all is written, so that a command that was stopped
 * leaves no file that looks whole. Returns the names. Throws DistributionFault `file_exists` when there is one already.
 */
export async function writeArchive(chunks: Chunks, { file, split }: Target): Promise<readonly string[]> {
  refuseTarget(file)
  const staged: string[] = []
  const stagedName = () => `${file}.incomplete-${process.pid}-${staged.length + 1}`
  const pieces = piecesOf(chunks)
  try {
    for (let more = true; more;) {
      const name = stagedName()
      staged.push(name)
      const left = { bytes: split ?? Number.POSITIVE_INFINITY }
      await pipeline(Readable.from(atMost(pieces, left), { objectMode: false }), createWriteStream(name))
      more = left.bytes === 0 && (await pieces.more())
    }
    const names = staged.map((_, at) => (split === null ? file : partName(file, at + 1)))
    refuseTarget(file)
    for (const [at, name] of names.entries()) await rename(staged[at] ?? '', name)
    return names
  } finally {
    await Promise.all(staged.map((name) => rm(name, { force: true })))
  }
}

interface Pieces {
  /** At most so many of the next bytes; null at the end. */
  next(most: number): Promise<Uint8Array | null>
  more(): Promise<boolean>
}

function piecesOf(chunks: Chunks): Pieces {
  const iterator = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
  let held: Uint8Array = Buffer.alloc(0)
  async function fill(): Promise<boolean> {
    while (held.length === 0) {
      const { done, value } = await iterator.next()
      if (done === true) return false
      held = value
    }
    return true
  }
  return {
    async next(most) {
      if (!(await fill())) return null
      const piece = held.subarray(0, most)
      held = held.subarray(piece.length)
      return piece
    },
    more: fill,
  }
}

async function* atMost(pieces: Pieces, left: { bytes: number }): AsyncGenerator<Uint8Array> {
  while (left.bytes > 0) {
    const piece = await pieces.next(left.bytes)
    if (piece === null) return
    left.bytes -= piece.length
    yield piece
  }
}
