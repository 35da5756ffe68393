import type { Envelope } from '../protocol/envelope.ts'
import type { RpcCall, RpcId } from '../protocol/messages.ts'
import type { McpHead } from './caller.ts'
import type { McpParts } from './parts.ts'
import type { Reply } from './reply.ts'
import type { CallNotes } from './call-notes.ts'

/** A request of a modern client. */
export interface ModernRequest extends RpcCall {
  readonly id: RpcId
  readonly bytes: Buffer
  readonly envelope: Envelope
  readonly takesStream: boolean
}

/** A request in the making. */
export interface ModernWork {
  readonly parts: McpParts
  readonly head: McpHead
  readonly asked: ModernRequest
  /** Without its envelope. */
  readonly call: RpcCall
  readonly reply: Reply
  readonly signal: AbortSignal
  readonly noted: CallNotes
}
