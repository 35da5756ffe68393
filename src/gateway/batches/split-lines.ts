import { ByteList } from '../../lib/collections/byte-list.ts'

/** A line is an answer of one request: vectors and images make it long. */
export const longestLine = 64 * 1024 * 1024

/** Cuts chunks into lines. `add` returns false when a line is too long. */
export function splitLines(take: (line: Buffer) => void) {
  const held = new ByteList()
  const cut = () => {
    if (held.size > 0) take(held.join())
    held.clear()
  }
  return {
    add(chunk: Buffer): boolean {
      let from = 0
      for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, from)) {
        if (at > from) held.push(chunk.subarray(from, at))
        cut()
        from = at + 1
      }
      if (from < chunk.length) held.push(chunk.subarray(from))
      return held.size <= longestLine
    },
    end: cut,
  }
}
