import fs from 'node:fs'

/** A log destination that writes many lines at once, beside the event loop, so that a line costs no system call. */
export interface LineBlocks {
  write(line: string): void
  /** Resolves when all that was written before has left the process. */
  flush(): Promise<void>
  /** Writes what waits, at once: for the end of the process. */
  flushSync(): void
}

export interface LineBlocksOptions {
  readonly fd: number
  readonly blockChars?: number
  /** Lines wait no longer than this. */
  readonly everyMs?: number
  /** When the reader is stuck, lines beyond this many characters are dropped rather than kept in memory. */
  readonly maxChars?: number
}

const retryMs = 10

/** Opens the destination on a file descriptor that somebody else opened. */
export function openLineBlocks({ fd, blockChars = 32_768, everyMs = 200, maxChars = 16 * 1024 * 1024 }: LineBlocksOptions): LineBlocks {
  // A string that grows is a rope: it is made flat once, when it is written.
  let waiting = ''
  let block: Buffer | null = null
  let written = Promise.withResolvers<void>()

  const isEmpty = () => block === null && waiting === ''
  const begin = () => {
    block = Buffer.from(waiting)
    waiting = ''
    written = Promise.withResolvers()
    send(block)
  }
  const send = (rest: Buffer) => fs.write(fd, rest, 0, rest.length, null, (error, bytes) => sent(rest, error, bytes))
  const sent = (rest: Buffer, error: NodeJS.ErrnoException | null, bytes: number) => {
    if (error?.code === 'EAGAIN') setTimeout(send, retryMs, rest)
    else if (error === null && bytes < rest.length) send(rest.subarray(bytes))
    else {
      block = null
      written.resolve()
      if (waiting.length >= blockChars) begin()
    }
  }
  setInterval(() => {
    if (block === null && waiting !== '') begin()
  }, everyMs).unref()

  return {
    write(line) {
      if (waiting.length > maxChars) return
      waiting += line
      if (block === null && waiting.length >= blockChars) begin()
    },
    async flush() {
      while (!isEmpty()) {
        if (block === null) begin()
        await written.promise
      }
    },
    flushSync() {
      try {
        if (waiting !== '') fs.writeSync(fd, waiting)
      } catch {
        // Nobody reads any more.
      }
      waiting = ''
    },
  }
}
