import { type McpFault, toFault, toldFault } from '../protocol/faults.ts'
import { answerText, type RpcAnswer, type RpcCall, type RpcId } from '../protocol/messages.ts'
import type { Reservation } from '../../limits/ledger.ts'
import { retryHeadersOf } from './refuse.ts'
import { deniedCode } from './guard.ts'
import { type CallEnd, finishCall, limitHeaders, reserveCall } from './account.ts'
import type { McpHead } from './caller.ts'
import type { McpParts } from './parts.ts'
import { type CallNotes, newNotes } from './call-notes.ts'

/** One request of a client on its way through limits, server and log. */
export interface RunningCall {
  readonly id: RpcId
  readonly call: RpcCall
  readonly bytes: Buffer | null
  /** The revision of the client; null: unknown. */
  readonly revision: string | null
  readonly isFirst: boolean
  /** True for the rest of a call that has been charged. */
  readonly isPaid?: boolean
  /** Makes the call. */
  work(noted: CallNotes): Promise<RpcAnswer>
  /** Returns the status of HTTP for an error. */
  statusOf(fault: McpFault): number
  /** Returns whether the client has left. */
  isLeft(): boolean
  /** Returns whether the answer was begun as a stream. */
  isStream(): boolean
  sent(): { readonly bytes: number; readonly firstByteAt: number | null }
  /** Gives the answer to the client. */
  give(status: number, text: string, headers: readonly string[]): void
}

/** The answer to a call, and the refusal that it is. */
interface CallEnding {
  readonly answer: RpcAnswer
  /** Null: the server gave it, or it is a result. */
  readonly fault: McpFault | null
}

/** Runs a call: reserves, makes it, records it, and answers. Never rejects. */
export async function runCall({ deps }: McpParts, head: McpHead, run: RunningCall): Promise<void> {
  const noted = newNotes()
  const startedAt = run.isFirst ? head.exchange.startedAt : performance.now()
  const reserved: ReservedPlace = { reservation: null }
  const made = await make(async () => {
    reserved.reservation = await reserveCall(deps, head, { call: run.call, isPaid: run.isPaid === true })
    return run.work(noted)
  })
  const { answer, fault } = made
  const thrown = fault?.cause ?? null
  if (thrown !== null && thrown.status >= 500) deps.report(thrown, head.exchange.requestId)
  const text = head.hide(answerText(run.id, answer))
  const { bytes, firstByteAt } = run.sent()
  finishCall(deps, head, {
    call: run.call,
    request: run.bytes,
    response: text,
    hooks: noted.hooks,
    tokensSaved: noted.tokensSaved,
    progress: noted.progress,
    ...endOf(made, noted, run.isLeft()),
    stream: run.isStream(),
    startedAt,
    sentAt: noted.sentAt,
    firstByteAt,
    responseBytes: bytes + Buffer.byteLength(text),
    revisions: [run.revision, noted.serverRevision],
    reservation: reserved.reservation,
    isFirst: run.isFirst,
  })
  const status = 'error' in answer ? run.statusOf(fault ?? toldFault(answer.error)) : 200
  run.give(status, text, limitHeaders(head, reserved.reservation).concat(thrown === null ? [] : retryHeadersOf(thrown)))
}

interface ReservedPlace {
  reservation: Reservation | null
}

async function make(work: () => Promise<RpcAnswer>): Promise<CallEnding> {
  try {
    return { answer: await work(), fault: null }
  } catch (error) {
    const fault = toFault(error)
    return { answer: { error: fault.error }, fault }
  }
}

function endOf({ answer, fault }: CallEnding, { isDenied }: CallNotes, left: boolean): Pick<CallEnd, 'status' | 'outcome' | 'errorCode'> {
  if (left) return { status: 499, outcome: 'client_closed', errorCode: 'client_closed' }
  if (isDenied) return { status: fault?.status ?? 200, outcome: 'error', errorCode: deniedCode }
  const outcome = hasFailed(answer) ? 'error' : 'complete'
  return { status: fault?.status ?? 200, outcome, errorCode: fault?.code ?? codeOf(answer) }
}

const hasFailed = (answer: RpcAnswer): boolean => 'error' in answer || answer.result['isError'] === true

/** Returns the code of the log for a failure that the server reports. */
const codeOf = (answer: RpcAnswer): string | null =>
  'error' in answer ? 'mcp_error' : answer.result['isError'] === true ? 'tool_error' : null
