import { openapiDocument } from '../openapi.ts'
import { mountFeatures } from '../mount.ts'
import type { Context, Middleware } from './context.ts'
import { loadDocs } from './docs.ts'
import type { Frame } from './frame.ts'
import { cached, type StaticAnswer } from './static-answer.ts'

type Answer = (ctx: Context) => void | Promise<void>

/** What a process says of itself, without a key: health, metrics, the description of its API. */
export function processRoutes(frame: Frame): Middleware {
  const routes = new Map<string, Answer>([
    ['/', (ctx) => ctx.redirect('/docs')],
    [
      '/v1/health',
      (ctx) => void (ctx.body = { message: 'Server is healthy', status: 'ok', service: 'gatehouse', version: frame.config.version }),
    ],
    ['/healthz', (ctx) => void (ctx.body = { status: 'alive' })],
    ['/readyz', (ctx) => readiness(frame, ctx)],
    ['/metrics', metrics(frame)],
    ['/openapi.json', apiDescription(frame)],
  ])
  for (const [path, answer] of loadDocs()) routes.set(path, (ctx) => sendStatic(ctx, answer))
  return (ctx, next) => {
    const answer = ctx.method === 'GET' || ctx.method === 'HEAD' ? routes.get(ctx.path) : undefined
    return answer === undefined ? next() : Promise.resolve(answer(ctx))
  }
}

/** Written when somebody first asks, and then kept: it takes 0.1 s and 20 MB, which no start and no idle process should pay. */
function apiDescription({ features, config }: Frame): Answer {
  const write = () => {
    const on = mountFeatures(features, config).flatMap(({ feature, unavailable }) => (unavailable === null ? [feature] : []))
    const document = openapiDocument(on, { version: config.version, publicUrl: config.publicUrl })
    return cached('application/json; charset=utf-8', JSON.stringify(document))
  }
  let written: StaticAnswer | undefined
  return (ctx) => sendStatic(ctx, (written ??= write()))
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
  ctx.body = { status: ready ? 'ready' : 'not_ready', service: 'gatehouse', version: frame.config.version, checks }
}

/** Rendered at most once a second, since anybody may ask. */
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
