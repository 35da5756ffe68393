import { z } from 'zod'
import { atLevel } from '../../release/at-level.ts'
import { since } from '../../release/since.ts'
import { describeApi } from '../openapi/describe.ts'
import { consolePath } from './console.ts'
import { admitToDocs, admitToMetrics } from './admittance.ts'
import type { Context, Middleware } from './context.ts'
import { docsAnswers } from './docs.ts'
import type { Frame } from './frame.ts'
import { homePage, icon } from './home-page.ts'
import { whenAsked } from './page.ts'
import { peoplePages } from './people-pages.ts'
import { cached, type StaticAnswer } from './static-answer.ts'

/** The answer of `/v1/health`. */
export const healthView = z.object({
  message: z.string(),
  status: z.literal('ok'),
  service: since('1.7.0', z.string()),
  version: z.string(),
  level: z.string().nullable(),
  finalized_level: z.string().nullable(),
})

const healthOf = (frame: Frame) => ({ message: 'Server is healthy', status: 'ok', service: 'gatehouse', ...releases(frame) })

type Answer = (ctx: Context) => void | Promise<void>

/** Returns the routes that need no key: health, metrics, the description of the API. */
export function processRoutes(frame: Frame): Middleware {
  const routes = new Map<string, Answer>([...healthRoutes(frame), ...metricsRoute(frame), ...docsRoutes(frame), ...pageRoutes(frame)])
  return answering(routes)
}

/** Returns the routes on the port for probes and metrics. */
export function managementRoutes(frame: Frame): Middleware {
  return answering(new Map<string, Answer>([...healthRoutes(frame), ['/metrics', metrics(frame)]]))
}

const answering =
  (routes: ReadonlyMap<string, Answer>): Middleware =>
  (ctx, next) => {
    const answer = ctx.method === 'GET' || ctx.method === 'HEAD' ? routes.get(ctx.path) : undefined
    return answer === undefined ? next() : Promise.resolve(answer(ctx))
  }

type Routes = readonly (readonly [path: string, answer: Answer])[]

const healthRoutes = (frame: Frame): Routes => [
  ['/v1/health', (ctx) => void (ctx.body = atLevel(healthView, frame.level.release, 'answer').parse(healthOf(frame)))],
  ['/healthz', (ctx) => void (ctx.body = { status: 'alive' })],
  ['/readyz', (ctx) => readiness(frame, ctx)],
]

function metricsRoute(frame: Frame): Routes {
  const { metricsAccess: access, managementPort } = frame.config
  if (access === 'off' || managementPort !== null) return []
  const answer = metrics(frame)
  if (access === 'public') return [['/metrics', answer]]
  return [['/metrics', (ctx) => (admitToMetrics(frame, ctx), answer(ctx))]]
}

/** The pages for people call the control plane of this process. */
const pageRoutes = (frame: Frame): Routes =>
  frame.config.roles.has('control')
    ? peoplePages().map(([path, answer]) => [path, (ctx: Context) => sendStatic(ctx, answer())] as const)
    : []

function docsRoutes(frame: Frame): Routes {
  const { docsAccess: access } = frame.config
  if (access === 'off') return []
  const routes: Routes = [
    ['/', home(frame)],
    ['/docs/', (ctx) => ctx.redirect('/docs')],
    ['/favicon.ico', (ctx) => sendStatic(ctx, picture())],
    ['/openapi.json', apiDescription(frame)],
    ...docsAnswers().map(([path, answer]) => [path, (ctx: Context) => sendStatic(ctx, answer())] as const),
  ]
  if (access === 'public') return routes
  return routes.map(([path, answer]) => [path, (ctx) => admitToDocs(frame, ctx).then(() => answer(ctx))])
}

const picture = whenAsked(icon)

/** The console for people, or a page where there is none; programs are led to the API page. */
function home({ config, console }: Frame): Answer {
  const page = whenAsked(() => homePage(config))
  return (ctx) => {
    ctx.vary('accept')
    if (ctx.accepts('json', 'html') !== 'html') ctx.redirect('/docs')
    else if (config.roles.has('control') && console.files() !== null) ctx.redirect(consolePath)
    else sendStatic(ctx, page())
  }
}

/** This build's release, its level, and the release that is finalized in the database: null until the database is read. */
const releases = ({ config, level }: Frame) => ({
  version: config.version,
  level: level.finalized === null ? null : level.release,
  finalized_level: level.finalized,
})

/** Written on the first request, and kept until the level rises. */
function apiDescription({ config, level }: Frame): Answer {
  const write = async () =>
    cached(
      'application/json; charset=utf-8',
      await describeApi({ config, level: level.release, off: level.off ?? null, publicUrl: config.publicUrl }),
    )
  let written: { readonly level: string; readonly answer: Promise<StaticAnswer> } | null = null
  return async (ctx) => {
    const held = written?.level === level.release ? written : { level: level.release, answer: write() }
    written = held
    try {
      sendStatic(ctx, await held.answer)
    } catch (error) {
      if (written === held) written = null
      throw error
    }
  }
}

function sendStatic(ctx: Context, { type, bytes, etag, headers }: StaticAnswer): void {
  ctx.set({ 'content-type': type, etag, 'cache-control': 'no-cache', ...headers })
  ctx.status = 200
  if (ctx.fresh) ctx.status = 304
  else ctx.body = bytes
}

async function readiness(frame: Frame, ctx: Context): Promise<void> {
  const { ready, checks } = await frame.health()
  ctx.status = ready ? 200 : 503
  if (!ready) ctx.set('retry-after', '2')
  ctx.body = { status: ready ? 'ready' : 'not_ready', service: 'gatehouse', ...releases(frame), checks }
}

/** Rendered at most once a second, since any caller may ask. */
function metrics({ metrics: registry, clusterMetrics }: Frame): Answer {
  let renderedAt = Number.NEGATIVE_INFINITY
  let rendered: Promise<string> = Promise.resolve('')
  return async (ctx) => {
    if (performance.now() - renderedAt > 1000) {
      renderedAt = performance.now()
      rendered = clusterMetrics === null ? registry.render() : clusterMetrics()
    }
    ctx.type = registry.contentType
    ctx.body = await rendered
  }
}
