import { jsonShape } from './json.ts'
import type { Shape } from './shape.ts'

/** Sends the browser on, with the cookies of the answer. */
export const redirectShape: Shape = {
  ...jsonShape,
  begin(ctx) {
    ctx.state.sendsBrowsers = true
  },
  write(ctx, result) {
    if (result.redirect === null) return jsonShape.write(ctx, result)
    for (const cookie of result.cookies) ctx.append('set-cookie', cookie)
    ctx.set('location', result.redirect)
    ctx.body = ''
    ctx.status = 303
    return undefined
  },
}
