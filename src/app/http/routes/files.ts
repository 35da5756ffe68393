import type { FileRoute } from '../../feature.ts'
import type { Middleware } from '../context.ts'
import type { Frame } from '../frame.ts'
import { demandRunning } from '../running.ts'
import { writeDownload } from '../shapes/download.ts'
import { countingFailures, demandPatience } from './count-failures.ts'

/** Returns the handler of links to files: a bad link counts against the address, as a wrong key does. */
export const fileAdapter =
  (frame: Frame) =>
  (file: FileRoute): Middleware =>
  async (ctx) => {
    ctx.state.access.route = file.path
    const running = demandRunning(frame)
    const address = frame.clientAddress(ctx.req)
    demandPatience(running, address, 'Too many links from this address do not work.')
    const opened = await countingFailures(running, { address, kind: null }, () =>
      file.open({ ...texts(ctx.query), ...texts(ctx['params']) }, running.deps),
    )
    ctx.state.access.organisationId = opened.organisationId
    writeDownload(ctx, opened)
  }

/** The last value of a repeated parameter counts. */
const texts = (given: unknown): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    Object.entries(typeof given === 'object' && given !== null ? given : {}).map(([name, value]: readonly [string, unknown]) => [
      name,
      Array.isArray(value) ? String(value.at(-1)) : String(value),
    ]),
  )
