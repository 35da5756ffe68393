import type { LogPlace, LogSeal } from '../../gateway/ports/journal.ts'
import type { ProviderScope } from '../../gateway/ports/callers.ts'
import type { ByteRange } from '../../gateway/ports/managed.ts'
import { ByteList } from '../../lib/collections/byte-list.ts'
import { ApiError } from '../../lib/errors.ts'
import type { SideConnections } from '../database/side-pool.ts'
import { inTenant } from './tenant-query.ts'

/** All pieces of a file have so many bytes, but for the last. */
export const pieceBytes = 256 * 1024

/** Makes the pieces of a file of its bytes, however few come at a time. */
interface PieceCutter {
  /** Returns the pieces that are whole with these bytes. */
  readonly add: (bytes: Buffer) => readonly Buffer[]
  /** Returns the last piece, which may be empty. */
  readonly rest: () => Buffer
}

export function createPieceCutter(): PieceCutter {
  const held = new ByteList()
  const take = (): Buffer => {
    const all = held.join()
    held.clear()
    return all
  }
  return {
    rest: take,
    add(bytes) {
      held.push(bytes)
      if (held.size < pieceBytes) return []
      const all = take()
      const count = Math.floor(all.length / pieceBytes)
      if (all.length > count * pieceBytes) held.push(all.subarray(count * pieceBytes))
      return Array.from({ length: count }, (_, at) => all.subarray(at * pieceBytes, (at + 1) * pieceBytes))
    },
  }
}

interface PieceOf {
  readonly id: string
  readonly scope: ProviderScope
  readonly piece: number
}

/** The places to which sealed values are bound. No log has such an id. */
const place = (id: string, { organisationId, workspaceId }: ProviderScope): LogPlace => ({
  id: `file ${workspaceId ?? ''} ${id}`,
  organisationId,
  createdAt: 0,
})
export const placeOfName = (id: string, scope: ProviderScope): LogPlace => place(`${id} name`, scope)

export const sealPiece = (seal: LogSeal, { id, scope, piece }: PieceOf, plain: Uint8Array): Buffer =>
  Buffer.concat(seal.seal(place(`${id} ${piece}`, scope), [plain]))

function openPiece(seal: LogSeal, { id, scope, piece }: PieceOf, sealed: Buffer): Buffer {
  try {
    return seal.open(place(`${id} ${piece}`, scope), sealed)
  } catch (cause) {
    throw new ApiError('sealed', `The file ${id} cannot be opened: it was sealed with another ENCRYPTION_KEY, or was changed.`, { cause })
  }
}

/** Returns pieces of files by their ids. */
export type Pieces = (piece: PieceOf) => Promise<Buffer>

/** The lines of a batch are read one after the other, many from one piece. */
const mostKept = 8

/** Reads pieces, and keeps the latest. Rejects with `not_found` when the file is gone. */
export function createPieces(connections: SideConnections, seal: LogSeal): Pieces {
  const kept = new Map<string, Promise<Buffer>>()
  const read = async ({ id, scope, piece }: PieceOf): Promise<Buffer> => {
    const [row] = await inTenant<{ sealed: Buffer }>(connections, scope.organisationId, [
      { text: 'SELECT sealed FROM file_pieces WHERE file_id = $1 AND piece = $2', values: [id, piece] },
    ])
    if (row === undefined) throw new ApiError('not_found', `The file ${id} was deleted.`)
    return openPiece(seal, { id, scope, piece }, row.sealed)
  }
  return (wanted) => {
    const key = `${wanted.scope.organisationId} ${wanted.id} ${wanted.piece}`
    const held = kept.get(key) ?? read(wanted)
    kept.delete(key)
    kept.set(key, held)
    held.catch(() => kept.delete(key))
    const [oldest] = kept.keys()
    if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
    return held
  }
}

interface PartOfFile {
  readonly id: string
  readonly scope: ProviderScope
  readonly range: ByteRange
}

/** Reads a part of a file, one piece at a time. */
export async function* readPieces(pieces: Pieces, { id, scope, range: { start, end } }: PartOfFile): AsyncIterable<Buffer> {
  for (let at = start; at < end;) {
    const piece = Math.floor(at / pieceBytes)
    const from = piece * pieceBytes
    const bytes = await pieces({ id, scope, piece })
    yield bytes.subarray(at - from, Math.min(end - from, pieceBytes))
    at = from + pieceBytes
  }
}
