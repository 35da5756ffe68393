import { featuresOn } from '../../src/app/level/mount.ts'
import type { Feature } from '../../src/app/feature.ts'
import type { Route } from '../../src/app/route.ts'
import { loadConfig } from '../../src/config/index.ts'
import { fixedLevel } from '../../src/release/level.ts'
import { createClient, isDataPlane, send, type Answer, type Exchange, type Request, type Target } from './client.ts'
import type { Served } from './installation.ts'
import type { Maker } from './maker.ts'

/** A client's requests to an installation, and its last reads there. */
export interface Recording {
  readonly exchanges: readonly Exchange[]
  readonly readings: readonly Reading[]
}

/** A GET whose answer an upgrade must not change. */
export interface Reading {
  readonly request: Request
  readonly answer: Answer
}

/** The word in all names that a recording holds, and the one that stands in its place when the requests are sent again. */
export const tokens = { recorded: 'rec0rded', replayed: 'rep1ayed' } as const

export interface RecordOptions {
  readonly features: readonly Feature[]
  readonly makers: Readonly<Record<string, Maker>>
  /** The scripted provider's URL. */
  readonly providerUrl: string
}

/** Makes data through every route that is on, and reads it all. Throws when a feature has no maker, or a route was left out. */
export async function record(app: Served, { features, makers, providerUrl }: RecordOptions): Promise<Recording> {
  const level = fixedLevel(app.release)
  const on = featuresOn(features, { config: loadConfig({}), level })
  const client = createClient(app)
  for (const { id } of on) {
    const maker = makers[id]
    if (maker === undefined) throw new Error(`the feature ${id} has no maker: add one to scripts/rehearse/makers.ts`)
    await maker({
      client,
      admin: client.with(app.adminKey),
      workspace: client.with(app.workspaceKey),
      adminKey: app.adminKey,
      workspaceKey: app.workspaceKey,
      providerUrl,
      has: (release) => level.atLeast(release),
      name: (noun) => `${tokens.recorded}-${noun.replaceAll(' ', '-')}`,
    })
  }
  const left = unused(
    // Paths at the origin's root are asked by browsers, in sessions.
    on.flatMap(({ routes }) => routes.filter(({ below }) => below === undefined)),
    client.exchanges,
  )
  if (left.length > 0) throw new Error(`no maker in scripts/rehearse/makers asks for ${left.join(', ')}`)
  return { exchanges: client.exchanges, readings: await read(app, client.exchanges) }
}

/** The routes that no request reached. As in the product, a path without parameters goes before one that has some. */
function unused(all: readonly Route[], exchanges: readonly Exchange[]): readonly string[] {
  const routes = all.toSorted((one, other) => Number(one.path.includes(':')) - Number(other.path.includes(':')))
  const patterns = routes.map(({ path }) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`))
  const asked = exchanges.filter((exchange) => !isDataPlane(exchange))
  const reached = new Set(
    asked.map(({ method, path }) => {
      const [bare = ''] = path.split('?')
      return routes.findIndex((route, at) => route.method === method && patterns[at]?.test(bare))
    }),
  )
  return routes.filter((_, at) => !reached.has(at)).map(({ method, path }) => `${method} ${path}`)
}

/** Everything that was read on the way, read again now; from the data plane the provider's echo. */
async function read(target: Target, exchanges: readonly Exchange[]): Promise<readonly Reading[]> {
  const gets = exchanges.filter((exchange) => exchange.method === 'GET' && (!isDataPlane(exchange) || isEcho(exchange)))
  const distinct = new Map(gets.map((exchange) => [JSON.stringify([exchange.headers, exchange.path]), exchange]))
  // A request through the gateway makes a log, so it comes last.
  const requests = [...distinct.values()].toSorted((one, other) => Number(isDataPlane(one)) - Number(isDataPlane(other)))
  const readings: Reading[] = []
  for (const request of requests) readings.push({ request, answer: await send(target, request) })
  return readings
}

/** Whether the scripted provider answers it with the received request. */
export const isEcho = ({ path }: Pick<Request, 'path'>): boolean => path.startsWith('/echo/')
