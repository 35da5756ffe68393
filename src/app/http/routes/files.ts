import { Readable } from 'node:stream'
import { ApiError } from '../../../lib/errors.ts'
import type { FileRoute } from '../../feature.ts'
import type { Context, Middleware } from '../context.ts'
import type { Frame } from '../frame.ts'
import { demandRunning } from '../running.ts'

/** Returns the handler of links to files: a bad link counts against the address, as a wrong key does. */
export const fileAdapter =
  (frame: Frame) =>
  (file: FileRoute): Middleware =>
  async (ctx) => {
    ctx.state.access.route = file.path
    const { deps, failures } = demandRunning(frame)
    const address = frame.clientAddress(ctx.req)
    if (failures.spent(address)) throw failures.failed(address) ?? new ApiError('AB06', 'Too many links from this address do not work.')
    try {
      await answer(ctx, file, deps)
    } catch (error) {
      const limited = error instanceof ApiError && error.status === 401 ? failures.failed(address) : null
      throw limited ?? error
    }
  }

async function answer(ctx: Context, file: FileRoute, deps: Parameters<FileRoute['open']>[1]): Promise<void> {
  const { organisationId, name, type, length, bytes } = await file.open({ ...texts(ctx.query), ...texts(ctx['params']) }, deps)
  ctx.state.access.organisationId = organisationId
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

/** The last value of a repeated parameter counts. */
const texts = (given: unknown): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    Object.entries(typeof given === 'object' && given !== null ? given : {}).map(([name, value]: readonly [string, unknown]) => [
      name,
      Array.isArray(value) ? String(value.at(-1)) : String(value),
    ]),
  )
