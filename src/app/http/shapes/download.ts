import { Readable } from 'node:stream'
import type { FileAnswer } from '../../feature.ts'
import type { Context } from '../context.ts'

/** Writes a file on its way to the caller. */
export function writeDownload(ctx: Context, { name, type, length, bytes }: FileAnswer): void {
  ctx.status = 200
  ctx.type = type
  ctx.set({
    'content-disposition': `attachment; filename="${name}"`,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })
  ctx.body = Readable.from(bytes, { objectMode: false })
  ctx.length = length
}
