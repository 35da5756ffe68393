/** A line is an answer of one request: vectors and images make it long. */
export const longestLine = 64 * 1024 * 1024

/** Cuts chunks into lines. `add` returns false when a line is too long. */
export function splitLines(take: (line: Buffer) => void) {
  let held: Buffer[] = []
  let size = 0
  const cut = (last: Buffer) => {
    if (size + last.length > 0) take(held.length === 0 ? last : Buffer.concat([...held, last]))
    held = []
    size = 0
  }
  return {
    add(chunk: Buffer): boolean {
      let from = 0
      for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, from)) {
        cut(chunk.subarray(from, at))
        from = at + 1
      }
      held.push(chunk.subarray(from))
      size += chunk.length - from
      return size <= longestLine
    },
    end: () => cut(Buffer.alloc(0)),
  }
}
