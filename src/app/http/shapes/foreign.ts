import type { Protocol, ProtocolAnswer } from '../../protocol.ts'
import type { Context } from '../context.ts'
import type { Shape } from './shape.ts'

/** Bodies and answers as the standard of a protocol has them. */
export const foreignShape = ({ takes, answer }: Pick<Protocol, 'takes' | 'answer'>): Shape => ({
  formats: { named: takes },
  ours: false,
  write: (ctx, result) => writeForeign(ctx, answer(result.answer)),
})

/** Writes an answer of a protocol. */
export function writeForeign(ctx: Context, { status, headers, type, body }: ProtocolAnswer): void {
  ctx.set(headers)
  ctx.status = status
  if (body === null) {
    ctx.body = null
    ctx.status = status
    return
  }
  ctx.body = JSON.stringify(body)
  ctx.type = type
}
