import type { MaybePromise } from '../../lib/maybe-promise.ts'
import { toApiError } from '../../lib/errors.ts'
import type { JoinedAnswerParts } from '../answers/joined-answer.ts'
import type { EgressCall, EgressHandler } from '../egress/egress.ts'
import type { PreparedRequest } from '../outgoing/prepared.ts'

export interface Parts {
  readonly count: number
  readonly answer: JoinedAnswerParts
  /** The first call, which is ready. */
  readonly first: PreparedRequest
  readonly prepare: (part: number) => MaybePromise<PreparedRequest>
  readonly send: (prepared: PreparedRequest, handler: EgressHandler) => EgressCall
}

/** So many calls of one request are open at a time. */
const mostOpen = 4

/** Makes all calls of one request, a few at a time. The first that fails ends the others. */
export function sendParts({ count, answer, first, prepare, send }: Parts): EgressCall {
  const open = new Set<EgressCall>()
  let next = 0
  let isAborted = false
  let isPaused = false
  const abort = (): void => {
    isAborted = true
    for (const call of open) call.abort()
    open.clear()
  }
  const isDone = (): boolean => isAborted || answer.isOver || next >= count
  const run = async (): Promise<void> => {
    while (!isDone()) {
      const part = next
      next += 1
      const prepared = part === 0 ? first : await prepare(part)
      // The caller may have left while a call was signed.
      if (isAborted || answer.isOver) return
      await callOnce(prepared, answer.handlerFor(part), { open, isPaused: () => isPaused, send })
      if (answer.isOver) abort()
    }
  }
  for (let at = 0; at < Math.min(count, mostOpen); at += 1) run().catch((thrown: unknown) => answer.break(toApiError(thrown)))
  return {
    abort,
    pause() {
      isPaused = true
      for (const call of open) call.pause()
    },
    resume() {
      isPaused = false
      for (const call of open) call.resume()
    },
  }
}

interface RunningParts {
  readonly open: Set<EgressCall>
  /** Returns true while the caller is too slow for the answers. */
  readonly isPaused: () => boolean
  readonly send: Parts['send']
}

/** Makes one call. Resolves at its end, successful or not. */
function callOnce(prepared: PreparedRequest, handler: EgressHandler, { open, isPaused, send }: RunningParts): Promise<void> {
  return new Promise((resolve) => {
    let isOver = false
    let call: EgressCall | null = null
    const end = (): void => {
      isOver = true
      if (call !== null) open.delete(call)
      resolve()
    }
    call = send(prepared, {
      onHeaders: (status, headers, message) => handler.onHeaders(status, headers, message),
      onData: (chunk) => handler.onData(chunk),
      onEnd(trailers) {
        handler.onEnd(trailers)
        end()
      },
      onError(error) {
        handler.onError(error)
        end()
      },
    })
    if (isOver) return
    open.add(call)
    if (isPaused()) call.pause()
  })
}
