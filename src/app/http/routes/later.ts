import { eachHeader } from '../../../gateway/ports/headers.ts'
import type { LaterAnswer } from '../../route.ts'
import type { Context } from '../context.ts'

/** Headers about the transport on one connection: those of this answer are Node's. */
const ofConnection: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding', 'trailer', 'upgrade', 'content-length'])

/** Begins an answer of bytes, and ends its source when the caller leaves. */
export async function answerLater(ctx: Context, { open }: LaterAnswer): Promise<void> {
  const left = new AbortController()
  ctx.res.once('close', () => left.abort())
  if (ctx.res.destroyed) left.abort()
  const { status, headers, body } = await open(left.signal)
  ctx.status = status
  ctx.body = body
  ctx.remove('content-type')
  eachHeader(headers, (name, value) => {
    if (!ofConnection.has(name.toLowerCase())) ctx.append(name, value)
  })
  body.on('error', () => ctx.res.destroy())
}
