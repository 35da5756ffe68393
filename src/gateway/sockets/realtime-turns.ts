import { toApiError } from '../../lib/errors.ts'
import type { Fields } from '../../lib/json/fields.ts'
import type { Caller } from '../callers/identify.ts'
import type { OpenSocket } from '../egress/web-socket.ts'
import type { InnerAnswer } from '../exchange/inner-exchange.ts'
import { SseReader } from '../wire/sse-events.ts'
import { errorOfAnswer, ownError, type SocketError, textOf } from './error-event.ts'
import { createTurn, type RealtimeTurn, type TurnOptions } from './realtime-turn.ts'

/** The facts by which the pipeline makes a turn. */
export interface TurnRequest {
  readonly turn: RealtimeTurn
  readonly caller: Caller
  /** The body, as limits and guardrails read it. */
  readonly json: Fields
  readonly signal: AbortSignal
}

/** The turns of a session that have not ended, in their order. */
export interface RealtimeTurns {
  /** Begins a turn; `sent` is called when the pipeline lets it go to the provider. */
  begin(json: Fields, sent?: () => void): RealtimeTurn
  find(test: (turn: RealtimeTurn) => boolean): RealtimeTurn | undefined
  count(): number
  /** Ends all: the provider has gone. */
  fail(): void
  /** Ends all: the client has gone. */
  stop(): void
}

interface TurnsOptions extends Omit<TurnOptions, 'sent'> {
  readonly socket: OpenSocket
  readonly run: (request: TurnRequest) => Promise<InnerAnswer>
  readonly recheck: () => Caller | Promise<Caller>
  readonly refused: (turn: RealtimeTurn, error: SocketError) => void
  /** Called after each turn, unless the client has gone. */
  readonly ended: () => void
}

export function createTurns({ socket, run, recheck, refused, ended, ...flow }: TurnsOptions): RealtimeTurns {
  const turns: RealtimeTurn[] = []
  const left = new AbortController()

  async function perform(turn: RealtimeTurn, json: Fields): Promise<void> {
    try {
      const answer = await run({ turn, caller: await recheck(), json, signal: left.signal })
      if (answer.status < 300) await relay(answer, socket)
      else refused(turn, errorOfAnswer({ ...answer, text: await textOf(answer.body) }))
    } catch (thrown) {
      if (!left.signal.aborted) refused(turn, ownError(toApiError(thrown)))
    }
    turns.splice(turns.indexOf(turn), 1)
    if (!left.signal.aborted) ended()
  }

  return {
    begin(json, sent = nothing) {
      const turn = createTurn({ ...flow, sent })
      turns.push(turn)
      void perform(turn, json)
      return turn
    },
    find: (test) => turns.find(test),
    count: () => turns.length,
    fail() {
      for (const turn of turns) turn.fail()
    },
    stop: () => left.abort(),
  }
}

function nothing(): void {}

/** Sends the events of a turn to the client. The last one goes on when the turn is recorded. */
async function relay({ body }: InnerAnswer, socket: OpenSocket): Promise<void> {
  const reader = new SseReader()
  let last: string | null = null
  for await (const chunk of body)
    for (const { data } of (Buffer.isBuffer(chunk) ? reader.push(chunk) : null) ?? []) {
      if (data === null || !data.startsWith('{')) continue
      if (endsTurn.test(data)) last = data
      else await socket.send(typed(data))
    }
  if (last !== null) await socket.send(last)
}

const endsTurn = /^\s*\{\s*(?:"event_id"\s*:\s*"[^"]*"\s*,\s*)?"type"\s*:\s*"response\.done"/

/** An error of ours in a stream has no type where its dialect is another. */
const typed = (data: string): string => (data.startsWith('{"error"') ? `{"type":"error",${data.slice(1)}` : data)
