import { ApiError } from '../../lib/errors.ts'
import type { Egress, EgressHandler, EgressOrigin } from '../egress/egress.ts'
import type { FlowSteps } from './flow.ts'
import { egressBy } from './provider-socket.ts'
import type { AskedTurn } from './realtime-body.ts'

/** One turn of a session at the provider: its events are the answer of an exchange. */
export interface RealtimeTurn {
  /** The id of its response; null: the provider has not begun it. */
  id: string | null
  /** True if the provider does its work without being asked to: a refusal of the turn does not undo it. */
  readonly isUnasked: boolean
  readonly asked: AskedTurn
  /** Returns the egress by which the pipeline makes the turn. */
  egress(egress: Egress): Egress
  /** Takes an event of the provider's. */
  take(text: string): void
  /** Ends the turn in order. */
  end(): void
  /** Returns true once the pipeline has let it go to the provider. */
  isSent(): boolean
  isOver(): boolean
  /** Ends it because the connection has gone. */
  fail(): void
  /** Stops the provider no longer. */
  letGo(): void
}

export interface TurnOptions {
  readonly asked: AskedTurn
  readonly isUnasked: boolean
  /** Called when the pipeline lets the turn go to the provider. */
  readonly sent: () => void
  /** Called when the rest of its answer is not wanted any longer. */
  readonly left: (turn: RealtimeTurn) => void
  /** The hold of this turn on the provider. */
  readonly steps: FlowSteps
}

/** A provider whose turn waits for its verdict may send so many letters ahead. */
const mostWaiting = 1024 * 1024

const eventStream = ['content-type', 'text/event-stream']
const json = ['content-type', 'application/json']
/** The provider refuses a turn by an error in place of a response. */
const isError = /^\s*\{[^{}]*"type"\s*:\s*"error"/

export function createTurn({ asked, isUnasked, sent, left, steps }: TurnOptions): RealtimeTurn {
  const { pause, resume, letGo } = steps
  const early = createEarly({ pause, resume })
  let handler: EgressHandler | null = null
  let [isOver, isSent, hasBegun] = [false, false, false]
  let failure: ApiError | null = null

  function tell(text: string): void {
    if (handler === null) return
    const isFirst = !hasBegun
    hasBegun = true
    tellTaker(handler, text, isFirst)
  }

  function finish(): void {
    if (handler === null || !isOver) return
    if (failure === null) handler.onEnd([])
    else handler.onError(failure)
    handler = null
    letGo()
  }

  const send: EgressOrigin['send'] = ({ noteSent }, taker) => {
    noteSent?.()
    queueMicrotask(() => {
      handler = taker
      isSent = true
      sent()
      for (const text of early.take()) tell(text)
      finish()
    })
    return { abort, pause, resume }
  }

  function abort(): void {
    if (handler === null) return
    handler = null
    letGo()
    if (!isOver) left(turn)
  }

  const turn: RealtimeTurn = {
    id: null,
    asked,
    isUnasked,
    egress: (egress) => egressBy(egress, () => send),
    take(text) {
      if (isSent) tell(text)
      else early.add(text)
    },
    end() {
      isOver = true
      finish()
    },
    isSent: () => isSent,
    isOver: () => isOver,
    fail() {
      if (!isOver) failure ??= new ApiError('upstream_bad_response', 'The provider ended the session in the middle of a turn.')
      isOver = true
      finish()
    },
    letGo,
  }
  return turn
}

/** Holds what comes before the pipeline lets a turn go: a provider that hears speech begins turns by itself. */
function createEarly({ pause, resume }: Pick<FlowSteps, 'pause' | 'resume'>) {
  const texts: string[] = []
  let waiting = 0
  return {
    add(text: string): void {
      texts.push(text)
      waiting += text.length
      if (waiting > mostWaiting) pause()
    },
    take(): readonly string[] {
      if (waiting > mostWaiting) resume()
      waiting = 0
      return texts.splice(0)
    },
  }
}

/** Hands an event on as a part of an answer. */
function tellTaker(taker: EgressHandler, text: string, isFirst: boolean): void {
  const isRefusal = isFirst && isError.test(text)
  if (isFirst) taker.onHeaders(isRefusal ? 400 : 200, isRefusal ? json : eventStream, isRefusal ? 'Bad Request' : 'OK')
  taker.onData(Buffer.from(isRefusal ? text : `data: ${inOneLine(text)}\n\n`))
}

/** Returns a JSON text without breaks of lines, which stand between its tokens only: each ends a field of a server-sent event. */
const inOneLine = (text: string): string => (/[\r\n]/.test(text) ? text.replaceAll(/[\r\n]+/g, ' ').trim() : text)
