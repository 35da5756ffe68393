import { finished } from 'node:stream/promises'
import { ApiError, toApiError } from '../../lib/errors.ts'
import { isFields } from '../../lib/json/fields.ts'
import { jsonOrUndefined } from '../../lib/json/json.ts'
import { longTurns } from '../../lib/shares/long-turns.ts'
import type { Caller } from '../callers/identify.ts'
import type { OpenSocket } from '../egress/web-socket.ts'
import type { InnerAnswer } from '../exchange/inner-exchange.ts'
import { SseReader } from '../wire/sse-events.ts'
import type { FlowSteps } from './flow.ts'
import { errorOfAnswer, ownError, type SocketError, textOf } from './error-event.ts'
import { createOpenTurns, type OpenTurns } from './open-turns.ts'
import type { AskedTurn } from './realtime-body.ts'
import { createTurn, type RealtimeTurn, type TurnOptions } from './realtime-turn.ts'

/** The facts by which the pipeline makes a turn. */
export interface TurnRequest {
  readonly turn: RealtimeTurn
  /** Null: the one of the handshake. */
  readonly caller: Caller | null
  /** True: it was refused although the provider does it, so that it is only charged. */
  readonly isOwed: boolean
  readonly signal?: AbortSignal
}

/** The turns of a session that have not ended. */
export interface RealtimeTurns extends Pick<OpenTurns, 'asked' | 'named' | 'first' | 'count' | 'name'> {
  /** Begins a turn; `sent` is called when the pipeline lets it go to the provider. Null: the provider begins it by itself. Throws when too many are open. */
  begin(asked: AskedTurn, sent: (() => void) | null): RealtimeTurn
  /** Returns true while a response runs. */
  answers(): boolean
  /** Ends a turn in order. */
  end(turn: RealtimeTurn): void
  /** Ends all: the provider has gone. */
  fail(): void
  /** Ends all: the client has gone. */
  stop(): void
}

interface TurnsOptions extends Pick<TurnOptions, 'left'> {
  /** Returns another hold on the provider. */
  readonly steps: () => FlowSteps
  readonly organisationId: string
  readonly socket: OpenSocket
  readonly run: (request: TurnRequest) => Promise<InnerAnswer>
  readonly recheck: () => Caller | Promise<Caller>
  readonly refused: (turn: RealtimeTurn, error: SocketError) => void
  /** Called after each turn, unless the client has gone. */
  readonly ended: () => void
}

/** So many are open at once. A client asks for fewer; a provider that begins more by itself has lost its way. */
export const mostOpen = 64

const tooMany = (): ApiError =>
  new ApiError('upstream_bad_response', `The provider has begun more than ${mostOpen} responses of this session that have not ended.`)

export function createTurns({ socket, organisationId, run, recheck, refused, ended, left, steps }: TurnsOptions): RealtimeTurns {
  const open = createOpenTurns()
  const gone = new AbortController()
  const { signal } = gone

  async function perform(turn: RealtimeTurn): Promise<void> {
    try {
      const answer = await run({ turn, caller: await recheck(), isOwed: false, signal })
      if (answer.status < 300) await relay(answer, socket, organisationId)
      else refuse(turn, errorOfAnswer({ ...answer, text: await textOf(answer.body, organisationId) }))
    } catch (thrown) {
      if (!signal.aborted) refuse(turn, ownError(toApiError(thrown)))
    }
    if (turn.isUnasked && !turn.isSent()) await owe(turn)
    turn.letGo()
    open.remove(turn)
    if (!signal.aborted) ended()
  }

  function refuse(turn: RealtimeTurn, error: SocketError): void {
    open.release(turn)
    refused(turn, error)
  }

  /** Charges a turn that was refused, and that the provider does nevertheless. Its answer is dropped. */
  async function owe(turn: RealtimeTurn): Promise<void> {
    open.release(turn)
    if (signal.aborted) turn.fail()
    try {
      const { body } = await run({ turn, caller: null, isOwed: true })
      await finished(body.resume())
    } catch {
      // Its row has the fault.
    }
  }

  return {
    begin(asked, sent) {
      if (open.count() >= mostOpen) throw tooMany()
      const turn = createTurn({ left, steps: steps(), asked, isUnasked: sent === null, sent: sent ?? nothing })
      open.add(turn, sent !== null)
      void perform(turn)
      return turn
    },
    end(turn) {
      open.release(turn)
      turn.end()
    },
    answers: () => open.all().some(({ asked: { before } }) => before !== null),
    asked: () => open.asked(),
    named: (id) => open.named(id),
    first: () => open.first(),
    count: () => open.count(),
    name: (turn, id) => open.name(turn, id),
    fail() {
      for (const turn of open.all()) turn.fail()
    },
    stop() {
      gone.abort()
      for (const turn of open.all()) if (turn.isUnasked && !turn.isSent()) turn.fail()
    },
  }
}

function nothing(): void {}

/** Sends the events of a turn to the client. The last one goes on when the turn is recorded. */
async function relay({ body }: InnerAnswer, socket: OpenSocket, organisationId: string): Promise<void> {
  const reader = new SseReader()
  let last: string | null = null
  for await (const chunk of body)
    for (const { data } of (Buffer.isBuffer(chunk) ? reader.push(chunk) : null) ?? []) {
      if (data === null || !data.startsWith('{')) continue
      await longTurns.before(organisationId, data.length)
      if (endsTurn(data)) last = data
      else await socket.send(typed(data))
    }
  if (last !== null) await socket.send(last)
}

function endsTurn(data: string): boolean {
  if (!data.includes('"response.done"')) return false
  const event = jsonOrUndefined(data)
  return isFields(event) && event['type'] === 'response.done'
}

/** An error of ours in a stream has no type where its dialect is another. */
const typed = (data: string): string => (data.startsWith('{"error"') ? `{"type":"error",${data.slice(1)}` : data)
