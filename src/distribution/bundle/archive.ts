import { readText, type Chunks } from '../bytes.ts'
import { DistributionFault } from '../fault.ts'
import type { Blobs } from '../oci/artifacts.ts'
import { blobPath } from '../oci/documents.ts'
import { openRanges, type Ranges } from '../ranges.ts'
import { isInside } from '../sums.ts'
import { scanTar, type ByteSource } from '../tar/scan.ts'
import { partsOf } from './parts.ts'

/** A bundle on disk, of which only the places of the files are in memory. */
export interface Archive {
  /** The bytes of each file, by path. */
  readonly files: ReadonlyMap<string, number>
  readonly blobs: Blobs
  /** The content of a file that is there. */
  read(path: string): Chunks
  /** The same as text, for files of at most 16 MiB; null when it is not there. */
  text(path: string): Promise<string | null>
  readonly close: () => Promise<void>
}

const largestText = 16 * 1024 * 1024

/** Opens a bundle: one file, or its parts `<file>.001`, `<file>.002` … Throws DistributionFault `archive_malformed`. */
export async function openArchive(file: string): Promise<Archive> {
  const ranges = await openRanges(partsOf(file))
  try {
    const places = await findFiles(ranges)
    return archiveOver(ranges, places)
  } catch (error) {
    await ranges.close()
    throw error
  }
}

interface Place {
  readonly offset: number
  readonly size: number
}

async function findFiles(ranges: Ranges): Promise<ReadonlyMap<string, Place>> {
  const places = new Map<string, Place>()
  const source = rangesSource(ranges)
  for await (const { path, type, offset, size } of scanTar(source)) {
    if (type === 'folder') continue
    const fault =
      type !== 'file' ? 'is no plain file' : !isInside(path) ? 'leads out of the bundle' : places.has(path) ? 'comes twice' : null
    if (fault !== null) throw new DistributionFault('archive_malformed', `in the archive, ${JSON.stringify(path)} ${fault}`)
    places.set(path, { offset, size })
  }
  await refuseMore(ranges, source.position)
  return places
}

/** Behind its end an archive is filled up with zeros, and any other bytes there are unsigned. */
async function refuseMore(ranges: Ranges, end: number): Promise<void> {
  let at = end
  for await (const piece of ranges.stream(end, ranges.size - end)) {
    const found = piece.findIndex((byte) => byte !== 0)
    if (found !== -1)
      throw new DistributionFault('archive_malformed', `the archive ends at byte ${end}, and there is more from byte ${at + found} on`)
    at += piece.length
  }
}

/** A source that jumps over skipped bytes. */
function rangesSource(ranges: Ranges): ByteSource {
  let position = 0
  return {
    get position() {
      return position
    },
    async read(length) {
      const bytes = await ranges.read(position, length)
      position += bytes.length
      return bytes
    },
    skip(length) {
      position = Math.min(position + length, ranges.size)
      return Promise.resolve()
    },
  }
}

function archiveOver(ranges: Ranges, places: ReadonlyMap<string, Place>): Archive {
  function read(path: string): Chunks {
    const place = places.get(path)
    if (place === undefined) throw new DistributionFault('file_missing', `${path} is missing`)
    return ranges.stream(place.offset, place.size)
  }
  return {
    files: new Map([...places].map(([path, { size }]) => [path, size])),
    read,
    text: async (path) => (places.has(path) ? readText(read(path), largestText) : null),
    blobs: {
      size: (digest) => Promise.resolve(places.get(blobPath(digest))?.size ?? null),
      read: (digest) => read(blobPath(digest)),
    },
    close: () => ranges.close(),
  }
}
