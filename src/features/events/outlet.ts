import { Readable } from 'node:stream'

/** A stream of server-sent events, as its writer sees it. */
export interface Outlet {
  readonly stream: Readable
  /** The client takes more. Until then only short notes are written. */
  takes(): boolean
  /** Milliseconds since something was sent. */
  silentFor(): number
  send(event: string, data: unknown, id?: string): void
  /** Sends a line that is no event. */
  note(line: string): void
  end(): void
}

/** Opens a stream; `closed` runs once, when its client has left or it has ended. */
export function openOutlet(closed: () => void): Outlet {
  let takes = true
  let sentAt = performance.now()
  let over = false
  const close = () => {
    if (over) return
    over = true
    closed()
  }
  const stream = new Readable({
    read() {
      takes = true
    },
    destroy(error, done) {
      close()
      done(error)
    },
  })
  const write = (text: string) => {
    if (over) return
    sentAt = performance.now()
    takes = stream.push(text)
  }
  return {
    stream,
    takes: () => takes && !over,
    silentFor: () => performance.now() - sentAt,
    send: (event, data, id) => write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
    note: (line) => write(`${line}\n`),
    end() {
      if (over) return
      close()
      stream.push(null)
    },
  }
}
