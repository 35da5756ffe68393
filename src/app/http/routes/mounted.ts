import { ApiError } from '../../../lib/errors.ts'
import { mountFeatures, type Unavailable, unavailableError } from '../../level/mount.ts'
import type { HtmlPage, MountedApp } from '../../mounted-app.ts'
import type { Context, Middleware } from '../context.ts'
import type { Frame } from '../frame.ts'
import { pageHeaders, pageOf } from '../page.ts'
import { demandRunning } from '../running.ts'
import { countFailure, demandPatience } from './count-failures.ts'

/** Returns a handler for the paths of all applications of libraries, which passes on all others. */
export function mountedApps(frame: Frame): Middleware {
  const apps = mountFeatures(frame.features, frame).flatMap(({ feature, unavailable }) =>
    (feature.apps ?? []).map((app) => ({ app, unavailable })),
  )
  return (ctx, next) => {
    const found = apps.find(({ app }) => isOf(app, ctx.path))
    return found === undefined ? next() : answer(frame, ctx, found)
  }
}

interface FoundApp {
  readonly app: MountedApp
  /** Why it is off; null: it is on. */
  readonly unavailable: Unavailable | null
}

async function answer(frame: Frame, ctx: Context, { app, unavailable }: FoundApp): Promise<void> {
  ctx.state.access.route = app.paths.find((path) => ctx.path.startsWith(path)) ?? ctx.path
  ctx.state.sendsBrowsers = true
  if (unavailable !== null) throw unavailableError(unavailable)
  if (!frame.config.roles.has('control'))
    throw new ApiError('feature_unavailable', 'The control plane is not served by this process: ROLES has no control.')
  const running = demandRunning(frame)
  const clientAddress = frame.clientAddress(ctx.req)
  demandPatience(running, clientAddress, 'Too many credentials from this address were not good.')
  const outcome = await app.handle({ req: ctx.req, res: ctx.res, deps: running.deps, clientAddress, page })
  ctx.respond = false
  if (outcome === 'refused') countFailure(running, { address: clientAddress, kind: 'unknown' }, null)
}

const isOf = ({ paths }: MountedApp, asked: string): boolean =>
  paths.some((path) => asked === path || (path.endsWith('/') && asked.startsWith(path)))

const page = (title: string, main: string): HtmlPage => ({
  html: pageOf({ title, script: null, main }),
  headers: { ...pageHeaders(), 'cache-control': 'no-store' },
})
