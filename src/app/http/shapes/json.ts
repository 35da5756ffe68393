import type { Context } from '../context.ts'
import type { RouteResult } from '../routes/perform.ts'
import type { Shape } from './shape.ts'

/** Writes the headers that answers of our own API have. */
export function writeHeaders(ctx: Context, { replayed, etag }: RouteResult): void {
  if (etag !== null) ctx.set('etag', etag)
  if (replayed) ctx.set('idempotency-replayed', 'true')
}

export const jsonShape: Shape = {
  formats: {},
  ours: true,
  write(ctx, result) {
    for (const cookie of result.cookies) ctx.append('set-cookie', cookie)
    writeHeaders(ctx, result)
    ctx.body = result.answer
    ctx.status = 200
  },
}
