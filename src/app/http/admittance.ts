import { ApiError } from '../../lib/errors.ts'
import { isSameText } from '../../lib/text/same-text.ts'
import { bearerToken } from '../../gateway/ports/callers.ts'
import { authenticate } from './routes/authenticate.ts'
import type { Context } from './context.ts'
import type { Frame } from './frame.ts'
import { demandRunning } from './running.ts'
import { headerPrefixes } from '../../gateway/ports/headers.ts'

/** Admits requests with `METRICS_TOKEN`, which works without the database. Throws `unauthorized`. */
export function admitToMetrics({ config: { metricsToken } }: Pick<Frame, 'config'>, ctx: Context): void {
  const sent = bearerToken(ctx.get('authorization')) ?? passwordOf(ctx.get('authorization'))
  if (metricsToken !== null && sent !== null && isSameText(sent, metricsToken.reveal())) return
  throw new ApiError('unauthorized', 'These figures need METRICS_TOKEN: send it as Authorization: Bearer.', { param: 'authorization' })
}

/** Admits requests with an API key; a browser sends it as the password that it asks for. Rejects with `unauthorized`. */
export async function admitToDocs(frame: Frame, ctx: Context): Promise<void> {
  const password = passwordOf(ctx.get('authorization'))
  ctx.set('www-authenticate', 'Basic realm="gatehouse: any name, and an API key as the password", Bearer realm="gatehouse"')
  const prefixes = headerPrefixes(frame.config.headerAliases)
  const headers = password === null ? ctx.req.rawHeaders : ['x-service-api-key', password]
  await authenticate(headers, prefixes, { ...demandRunning(frame), metrics: frame.metrics, address: frame.clientAddress(ctx.req) })
  ctx.remove('www-authenticate')
}

/** The password of `Authorization: Basic`. */
function passwordOf(authorization: string): string | null {
  const [, encoded] = /^basic +(\S+)$/i.exec(authorization) ?? []
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString()
  return text.includes(':') ? text.slice(text.indexOf(':') + 1) : null
}
