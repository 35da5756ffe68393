import { eachHeader } from '../../../gateway/ports/headers.ts'
import { LaterAnswer } from '../../route.ts'
import type { Context } from '../context.ts'
import { jsonShape } from './json.ts'
import type { Shape } from './shape.ts'

/** Headers about the transport on one connection: those of this answer are Node's. */
const ofConnection: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding', 'trailer', 'upgrade', 'content-length'])

/** The answer begins when the transaction has ended. */
export const streamShape: Shape = {
  ...jsonShape,
  write(ctx, { answer }) {
    if (!(answer instanceof LaterAnswer)) throw new TypeError(`the answer of ${String(ctx.state.access.route)} is no stream`)
    return answerLater(ctx, answer)
  },
}

/** Begins an answer of bytes, and ends its source when the caller leaves. */
async function answerLater(ctx: Context, { open }: LaterAnswer): Promise<void> {
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
