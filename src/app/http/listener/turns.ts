import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { answerOn, endWith, type Fault } from './refusal.ts'

/** The state of a connection. A client may send its next request before the last answer has come (RFC 9112 section 9.3.2). */
interface Turn {
  latest: ServerResponse | null
  /** Bytes after it are ignored. */
  over: boolean
}

/** Keeps the answers of each connection in the order of its requests, those that no handler gives among them. */
export interface Turns {
  /** Notes a request. False when the connection ends before it: its answer could not be read, so it must not be carried out. */
  take(req: IncomingMessage, res: ServerResponse): boolean
  /** Refuses bytes that never became a request, or a request whose body went wrong, and ends the connection. */
  refuse(socket: Duplex, fault: Fault): void
}

export function createTurns(): Turns {
  const turns = new WeakMap<Duplex, Turn>()
  const turnOf = (socket: Duplex): Turn => {
    const known = turns.get(socket)
    if (known !== undefined) return known
    const turn = { latest: null, over: false }
    turns.set(socket, turn)
    return turn
  }
  return {
    take(req, res) {
      const turn = turnOf(req.socket)
      if (turn.over || turn.latest?.shouldKeepAlive === false) return false
      turn.latest = res
      return true
    },
    refuse(socket, fault) {
      const turn = turnOf(socket)
      if (turn.over) return
      turn.over = true
      const { latest } = turn
      if (latest === null) endWith(socket, fault)
      else if (!latest.req.complete) refuseBody(socket, latest, fault)
      else refuseNext(socket, latest, fault)
    },
  }
}

/** The latest request itself cannot be read to its end. */
function refuseBody(socket: Duplex, res: ServerResponse, fault: Fault): void {
  // Node lets go of a request that has its answer: readers of its body would wait for ever.
  socket.once('close', () => res.req.destroy())
  if (!res.headersSent) answerOn(res, fault)
  else if (res.socket === null && !res.writableFinished) res.once('socket', () => socket.destroy())
  else socket.destroy()
}

/** Refuses unreadable bytes after the latest request, once that request has its answer. */
function refuseNext(socket: Duplex, res: ServerResponse, fault: Fault): void {
  // The answer that is under way is the last one of this connection.
  if (!res.shouldKeepAlive) return
  if (res.writableFinished) endWith(socket, fault)
  else res.once('close', () => endWith(socket, fault))
}
