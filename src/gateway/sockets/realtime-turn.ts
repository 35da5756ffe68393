import { ApiError } from '../../lib/errors.ts'
import type { Egress, EgressCall, EgressHandler } from '../egress/egress.ts'
import { egressBy } from './provider-socket.ts'

/** One turn of a session at the provider: its events are the answer of an exchange. */
export interface RealtimeTurn {
  /** The id of its response; null: the provider has not begun it. */
  id: string | null
  /** Returns the egress by which the pipeline makes the turn. */
  egress(egress: Egress): Egress
  /** Takes an event of the provider's. */
  take(text: string): void
  /** Ends the turn in order. */
  end(): void
  isOver(): boolean
  /** Ends it because the connection has gone. */
  fail(): void
}

export interface TurnOptions {
  /** Called when the pipeline lets the turn go to the provider. */
  readonly sent: () => void
  readonly pause: () => void
  readonly resume: () => void
}

/** A provider whose turn waits for its verdict may send so many letters ahead. */
const mostWaiting = 1024 * 1024

const eventStream = ['content-type', 'text/event-stream']
const json = ['content-type', 'application/json']
/** The provider refuses a turn by an error in place of a response. */
const isError = /^\s*\{[^{}]*"type"\s*:\s*"error"/

export function createTurn({ sent, pause, resume }: TurnOptions): RealtimeTurn {
  /** What came before the pipeline let the turn go: a provider that hears speech begins turns by itself. */
  const early: string[] = []
  let handler: EgressHandler | null = null
  let [isOver, isSent, waiting] = [false, false, 0]
  let failure: ApiError | null = null

  let hasBegun = false

  function tell(text: string): void {
    const taker = handler
    if (taker === null) return
    const isRefusal = !hasBegun && isError.test(text)
    if (!hasBegun) taker.onHeaders(isRefusal ? 400 : 200, isRefusal ? json : eventStream, isRefusal ? 'Bad Request' : 'OK')
    hasBegun = true
    taker.onData(Buffer.from(isRefusal ? text : `data: ${text}\n\n`))
  }

  function finish(): void {
    if (handler === null || !isOver) return
    if (failure === null) handler.onEnd([])
    else handler.onError(failure)
    handler = null
  }

  const send = (taker: EgressHandler): EgressCall => {
    queueMicrotask(() => {
      handler = taker
      isSent = true
      sent()
      for (const text of early.splice(0)) tell(text)
      if (waiting > mostWaiting) resume()
      finish()
    })
    return {
      abort: () => void (handler = null),
      pause,
      resume,
    }
  }

  return {
    id: null,
    egress: (egress) => egressBy(egress, () => (_request, taker) => send(taker)),
    take(text) {
      if (handler !== null || isSent) {
        tell(text)
        return
      }
      early.push(text)
      waiting += text.length
      if (waiting > mostWaiting) pause()
    },
    end() {
      isOver = true
      finish()
    },
    isOver: () => isOver,
    fail() {
      isOver = true
      failure ??= new ApiError('upstream_bad_response', 'The provider ended the session in the middle of a turn.')
      finish()
    },
  }
}
