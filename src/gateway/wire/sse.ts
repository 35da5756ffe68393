import { ByteList } from '../../lib/collections/byte-list.ts'

const newline = 0x0a
const carriageReturn = 0x0d
/** A frame longer than this is passed on in pieces: a provider may not make us hold it all. */
const maxHeld = 1024 * 1024
/** A blank line is at most `\n\r\n` behind the end of the text before it. */
const edgeBytes = 3
const none = Buffer.alloc(0)

/**
 * Cuts server-sent events at frame ends: a chunk goes on up to the end of its last whole frame, the rest waits for its end.
 * So a stream that breaks off never leaves half a frame at the client, in front of our error event.
 */
export class FrameCutter {
  readonly #held = new ByteList()
  /** The last bytes held, in which a frame's end may begin. */
  #edge: Buffer = none

  /** Returns the bytes that may go on now; null: none yet. The usual chunk ends with a frame and passes without a copy. */
  push(chunk: Buffer): Buffer | null {
    const probe = this.#edge.length === 0 ? chunk : Buffer.concat([this.#edge, chunk])
    const end = lastFrameEnd(probe)
    if (end === chunk.length && this.#held.size === 0) return chunk
    const cutAt = end === 0 ? 0 : this.#held.size - this.#edge.length + end
    this.#held.push(chunk)
    if (cutAt === 0 && this.#held.size <= maxHeld) {
      this.#edge = Buffer.from(probe.subarray(-edgeBytes))
      return null
    }
    return this.#pass(cutAt)
  }

  /** Lets the first bytes go, or all when no frame has ended in them. */
  #pass(cutAt: number): Buffer {
    const all = this.#held.join()
    const passed = cutAt === 0 ? all : all.subarray(0, cutAt)
    const rest = all.subarray(passed.length)
    this.#held.clear()
    if (rest.length > 0) this.#held.push(rest)
    this.#edge = Buffer.from(rest.subarray(-edgeBytes))
    return passed
  }

  /** The bytes of a last frame that the provider did not end. */
  rest(): Buffer | null {
    return this.#held.size === 0 ? null : this.#held.join()
  }
}

/** The index after the last blank line; 0 when there is none. Lines end with LF, CRLF or CR. */
function lastFrameEnd(bytes: Buffer): number {
  for (let i = bytes.length - 1; i > 0; i -= 1) {
    const byte = bytes[i]
    if ((byte === newline || byte === carriageReturn) && endsBlankLine(bytes, i)) return i + 1
  }
  return 0
}

function endsBlankLine(bytes: Buffer, i: number): boolean {
  const previous = bytes[i - 1]
  if (bytes[i] === carriageReturn) return previous === carriageReturn && bytes[i + 1] !== newline
  if (previous === newline) return true
  return previous === carriageReturn && i >= 3 && bytes[i - 2] === newline
}

/** The CR of a CRLF ends no line by itself. */
const frameEnd = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)/g

/** Cuts bytes that hold whole frames; bytes behind the last end are a frame too. */
export function cutFrames(bytes: Buffer): readonly Buffer[] {
  const frames: Buffer[] = []
  let from = 0
  for (const { index, 0: end } of bytes.toString('latin1').matchAll(frameEnd)) {
    frames.push(bytes.subarray(from, index + end.length))
    from = index + end.length
  }
  if (from < bytes.length) frames.push(bytes.subarray(from))
  return frames
}

/** The lines end where those of the client's parser do: at CR and LF, and not at the other line ends that Unicode has. It drops a byte order mark. */
const linesOf = (frame: Buffer): readonly string[] =>
  frame
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)

/** Returns the data of a frame, its lines as one text. */
export const dataOf = (frame: Buffer): string =>
  linesOf(frame)
    .flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : line.startsWith('data:') ? [line.slice(5)] : []))
    .join('\n')

/** Returns the name of a frame's event; null: it has none. */
export function nameOf(frame: Buffer): string | null {
  for (const line of linesOf(frame)) if (line.startsWith('event:')) return line.slice(6).trim()
  return null
}

/** Returns a frame with other data, its other lines as they were. */
export function withData(frame: Buffer, data: string): Buffer {
  const others = linesOf(frame).filter((line) => line !== '' && !line.startsWith('data:'))
  return Buffer.from([...others, ...data.split('\n').map((line) => `data: ${line}`), '', ''].join('\n'))
}
