import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { markBytes } from './frame.ts'

/** One file of frames, `<zero-padded seq>.<mark>.seg`; the mark begins each of its frames. */
export interface Segment {
  readonly seq: number
  readonly name: string
  readonly path: string
  readonly mark: Buffer
}

const pattern = new RegExp(`^(\\d{10})\\.([0-9a-f]{${markBytes * 2}})\\.seg$`)
const freeSuffix = '.free'

/** The segments of a writer, oldest first; none when the directory is gone. */
export function listSegments(directory: string): Segment[] {
  return entries(directory)
    .map((name) => toSegment(directory, name))
    .filter((segment) => segment !== null)
    .toSorted((a, b) => a.seq - b.seq)
}

/**
 * A new, empty segment, open for writing. A shipped file is written over when there is one: its pages are in memory and its
 * blocks allocated, which makes an append up to ten times cheaper than in a growing file.
 */
export function createSegment(directory: string, seq: number): { segment: Segment; fd: number } {
  const mark = randomBytes(markBytes)
  const name = `${String(seq).padStart(10, '0')}.${mark.toString('hex')}.seg`
  const segment = { seq, name, path: path.join(directory, name), mark }
  const free = entries(directory).find((entry) => entry.endsWith(freeSuffix))
  if (free !== undefined) fs.renameSync(path.join(directory, free), segment.path)
  const { O_WRONLY, O_CREAT } = fs.constants
  return { segment, fd: fs.openSync(segment.path, O_WRONLY + O_CREAT, 0o600) }
}

/** Puts a shipped segment aside for `createSegment`; unlinks it when `keep` files are there already, or it is an outsize one. */
export function retireSegment(segment: Segment, { keep, segmentBytes }: { keep: number; segmentBytes: number }): void {
  const directory = path.dirname(segment.path)
  const spare = entries(directory).filter((entry) => entry.endsWith(freeSuffix)).length
  if (spare >= keep || fs.statSync(segment.path).size > segmentBytes) fs.rmSync(segment.path, { force: true })
  else fs.renameSync(segment.path, segment.path + freeSuffix)
}

/** Removes a directory without segments; throws when there is more in it than we ever put there. */
export function removeDirectory(directory: string): void {
  const ours = entries(directory).filter((name) => name.endsWith(freeSuffix) || name.startsWith('lock'))
  for (const name of ours) fs.rmSync(path.join(directory, name), { force: true })
  if (fs.existsSync(directory)) fs.rmdirSync(directory)
}

function toSegment(directory: string, name: string): Segment | null {
  const [, seq, mark] = pattern.exec(name) ?? []
  if (seq === undefined || mark === undefined) return null
  return { seq: Number(seq), name, path: path.join(directory, name), mark: Buffer.from(mark, 'hex') }
}

function entries(directory: string): string[] {
  try {
    return fs.readdirSync(directory)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
