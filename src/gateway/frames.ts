const newline = 0x0a
const carriageReturn = 0x0d
/** A frame longer than this is passed on in pieces: a provider may not make us hold it all. */
const maxHeld = 1024 * 1024

/**
 * Cuts server-sent events at frame ends: a chunk goes on up to the end of its last whole frame, the rest waits for its end.
 * So a stream that breaks off never leaves half a frame at the client, in front of our error event.
 */
export class FrameCutter {
  #held: Buffer | null = null

  /** What may go on now; null: nothing yet. The usual chunk ends with a frame and passes without a copy. */
  push(chunk: Buffer): Buffer | null {
    const bytes = this.#held === null ? chunk : Buffer.concat([this.#held, chunk])
    const end = lastFrameEnd(bytes, this.#held === null ? 0 : Math.max(0, this.#held.length - 3))
    if (end === 0) return this.#keep(bytes)
    this.#held = end === bytes.length ? null : bytes.subarray(end)
    return end === bytes.length ? bytes : bytes.subarray(0, end)
  }

  #keep(bytes: Buffer): Buffer | null {
    this.#held = bytes.length > maxHeld ? null : bytes
    return this.#held === null ? bytes : null
  }

  /** The bytes of a last frame that the provider did not end. */
  rest(): Buffer | null {
    return this.#held
  }
}

/** The index after the last blank line at or behind `from`; 0 when there is none. Lines end with LF, CRLF or CR. */
function lastFrameEnd(bytes: Buffer, from: number): number {
  for (let i = bytes.length - 1; i > from; i -= 1) {
    const byte = bytes[i]
    if (byte !== newline && byte !== carriageReturn) continue
    if (endsBlankLine(bytes, i)) return i + 1
  }
  return 0
}

function endsBlankLine(bytes: Buffer, i: number): boolean {
  const previous = bytes[i - 1]
  if (bytes[i] === carriageReturn) return previous === carriageReturn && bytes[i + 1] !== newline
  if (previous === newline) return true
  return previous === carriageReturn && i >= 3 && bytes[i - 2] === newline
}
