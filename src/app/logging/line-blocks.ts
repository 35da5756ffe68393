import fs from 'node:fs'
import { JsonWriter } from '../../lib/json/json-writer.ts'

/** A log destination that writes many lines at once, beside the event loop, so that a line costs no system call. */
export interface LineBlocks {
  write(line: string): void
  /** Adds a line that `write` writes of `told`, without a text in between. */
  add<Told>(write: (json: JsonWriter, told: Told) => void, told: Told): void
  /** Resolves when all that was written before has left the process. */
  flush(): Promise<void>
  /** Writes waiting lines at once: for the end of the process. */
  flushSync(): void
}

export interface LineBlocksOptions {
  readonly fd: number
  readonly blockBytes?: number
  /** Lines wait no longer than this. */
  readonly everyMs?: number
  /** When the reader is stuck, lines beyond this many bytes are dropped rather than kept in memory. */
  readonly maxBytes?: number
}

const retryMs = 10

/** Opens the destination on a file descriptor that is already open. */
export function openLineBlocks({ fd, blockBytes = 32_768, everyMs = 200, maxBytes = 16 * 1024 * 1024 }: LineBlocksOptions): LineBlocks {
  // Two that take turns: one is filled while the other is written.
  let waiting = new JsonWriter()
  let spare = new JsonWriter()
  let isWriting = false
  let written = Promise.withResolvers<void>()

  const isEmpty = () => !isWriting && waiting.end === 0
  const begin = () => {
    const full = waiting
    waiting = spare
    spare = full
    waiting.reset()
    isWriting = true
    written = Promise.withResolvers()
    send(full.bytes.subarray(0, full.end))
  }
  const send = (rest: Buffer) => fs.write(fd, rest, 0, rest.length, null, (error, bytes) => sent(rest, error, bytes))
  const sent = (rest: Buffer, error: NodeJS.ErrnoException | null, bytes: number) => {
    if (error?.code === 'EAGAIN') setTimeout(send, retryMs, rest)
    else if (error === null && bytes < rest.length) send(rest.subarray(bytes))
    else {
      isWriting = false
      written.resolve()
      if (waiting.end >= blockBytes) begin()
    }
  }
  setInterval(() => {
    if (!isEmpty() && !isWriting) begin()
  }, everyMs).unref()
  const add: LineBlocks['add'] = (write, told) => {
    if (waiting.end > maxBytes) return
    write(waiting, told)
    if (!isWriting && waiting.end >= blockBytes) begin()
  }

  return {
    add,
    write: (line) => add(writeText, line),
    async flush() {
      while (!isEmpty()) {
        if (!isWriting) begin()
        await written.promise
      }
    },
    flushSync() {
      try {
        if (waiting.end > 0) fs.writeSync(fd, waiting.bytes, 0, waiting.end)
      } catch {
        // The reader is gone.
      }
      waiting.reset()
    },
  }
}

const writeText = (json: JsonWriter, text: string): void => json.raw(text)
