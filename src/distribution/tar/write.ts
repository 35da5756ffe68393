import { blockSize, encodeHeader, padding, type TarMember } from './header.ts'

/** A member to write, with the content of a file. */
export interface TarInput extends Omit<TarMember, 'size' | 'target' | 'type'> {
  readonly type: 'file' | 'folder' | 'link'
  readonly size?: number
  readonly target?: string
  /** Exactly `size` bytes. */
  readonly content?: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

/** A file of the given bytes. */
export const fileOf = (path: string, bytes: Uint8Array): TarInput => ({
  path,
  type: 'file',
  mode: 0o644,
  size: bytes.length,
  content: () => [bytes],
})

/** The bytes of an archive, in pieces. The same members give the same bytes. Throws when a file has another size than its header. */
export async function* writeTar(members: AsyncIterable<TarInput> | Iterable<TarInput>, seconds = 0): AsyncGenerator<Uint8Array> {
  for await (const { content, size = 0, target = '', ...member } of members) {
    yield encodeHeader({ ...member, size, target }, seconds)
    let written = 0
    for await (const chunk of content?.() ?? []) {
      written += chunk.length
      yield chunk
    }
    if (written !== size) throw new Error(`${member.path} has ${written} bytes, and ${size} were announced`)
    yield padding(size)
  }
  yield Buffer.alloc(2 * blockSize)
}
