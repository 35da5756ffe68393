import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { type Route, wholePath } from '../../../src/app/route.ts'
import { features } from '../../../src/features/index.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { letters, people, type Callers } from './callers.ts'
import { startSeen, type Seen, type SetName, type Source, type Thing } from './seen.ts'

/**
 * The logs that each caller sees, on every route with data of logs, in every state of the settings: compared with `test/golden/data-visibility.txt`,
 * which `UPDATE_GOLDEN=1` writes. A cell is derived from the answer itself: by the ids in it; or, where it has figures, by the one set of logs with
 * the same figures, which an admin key gets by filters.
 */
const golden = join(import.meta.dirname, '../../golden/data-visibility.txt')

let seen: Seen
let callers: Callers
test.before(async () => {
  seen = await startSeen()
  callers = seen.callers
})
test.after.always(() => seen?.close())

const names = [
  'admin key',
  'workspace key',
  ...['key', 'token', 'session'].flatMap((kind) => letters.map((letter) => `${kind} of the ${people[letter]}`)),
]

/** The sets of logs that a caller may see, and the mark of each in the file. */
const marks: Readonly<Record<SetName, string>> = { all: '*', workspace: 'W', own: 'o', side: 's', none: '0' }
const setNames = Object.keys(marks) as SetName[]

/** How the shown logs of a route are recognised. */
type Probe =
  /** Figures: those of the whole answer, or a selection of it. The filters that leave one set are put behind the path. */
  | {
      readonly kind: 'figures'
      readonly path: string
      readonly workspace: 'workspace_slug' | 'workspace_id'
      readonly pick?: (body: Body) => unknown
      readonly post?: true
    }
  /** A list: the sources whose logs are in it. */
  | { readonly kind: 'list'; readonly of: Thing; readonly path: string; readonly sources: (body: Body) => readonly string[] }
  /** One log, trace or export at a time. */
  | { readonly kind: 'each'; readonly of: Thing; readonly ask: (id: string) => Ask }

type Body = Readonly<Record<string, unknown>>
interface Ask {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

const figures = (path: string, workspace: 'workspace_slug' | 'workspace_id' = 'workspace_slug'): Probe => ({
  kind: 'figures',
  path,
  workspace,
})
const each = (of: Thing, method: string, path: (id: string) => string, body?: (id: string) => unknown): Probe => ({
  kind: 'each',
  of,
  ask: (id) => ({ method, path: path(id), ...(body !== undefined && { body: body(id) }) }),
})
const rowsOf = (body: Body) => body['data'] as readonly Body[]
const list = (of: Thing, path: string, namesOf: (row: Body) => readonly unknown[]): Probe => ({
  kind: 'list',
  of,
  path,
  sources: (body) =>
    rowsOf(body)
      .flatMap(namesOf)
      .map((name) => String(name).replace('seen ', '')),
})
const total = (name: string) => (body: Body) => body[name]

/** Routes that show no data of logs, with the reason. */
const tellNothing: Readonly<Record<string, string>> = {
  'POST /v1/logs': 'inserts logs',
  'POST /v1/logs/erasures': 'erases logs of the whole organisation, by an organisation key alone',
  'POST /v1/otel/v1/traces': 'takes spans',
  'POST /v1/logs/otel': 'takes spans',
  'POST /v1/logs/otel/v1/traces': 'takes spans',
  'POST /v1/saved-filters': 'makes a filter',
  'DELETE /v1/saved-filters/{filterId}': 'finds the filter as PUT does',
  'GET /v1/logs/exports/field-restrictions': 'names fields',
  'GET /v1/events': 'a stream: test/integration/features/events.test.ts',
}

const groupValues: Readonly<Record<string, string>> = { groupBy: 'model', metadataKey: '_user' }
const exportOf = { requested_data: ['id'], filters: {} }

const probes: Readonly<Record<string, Probe>> = {
  'GET /v1/logs': list('log', '/v1/logs?page_size=200', (row) => [row['ai_model']]),
  'GET /v1/logs/{logId}': each('log', 'GET', (id) => `/v1/logs/${id}`),
  'GET /v1/logs/{logId}/cost': each('log', 'GET', (id) => `/v1/logs/${id}/cost`),
  'POST /v1/logs/{logId}/replay': each(
    'log',
    'POST',
    (id) => `/v1/logs/${id}/replay`,
    () => ({ headers: {} }),
  ),
  'POST /v1/explain': each(
    'log',
    'POST',
    () => '/v1/explain',
    (id) => ({ log_id: id }),
  ),
  'GET /v1/logs/facets': figures('/v1/logs/facets?fields=ai_model,status_code,outcome,operation,cache_status', 'workspace_id'),
  'GET /v1/logs/groups/{groupBy}': figures('/v1/logs/groups/model'),
  'GET /v1/traces': list('log', '/v1/traces?page_size=200', (row) => [row['models'], row['services']].flat()),
  'GET /v1/traces/{traceId}': each('trace', 'GET', (id) => `/v1/traces/${id}`),
  'GET /v1/saved-filters': list('filter', '/v1/saved-filters?search=seen', (row) => [row['name']]),
  'GET /v1/saved-filters/{filterId}': each('filter', 'GET', (id) => `/v1/saved-filters/${id}`),
  'PUT /v1/saved-filters/{filterId}': each(
    'filter',
    'PUT',
    (id) => `/v1/saved-filters/${id}`,
    () => ({ filters: {} }),
  ),
  'POST /v1/logs/exports': { kind: 'figures', path: '/v1/logs/exports', workspace: 'workspace_slug', pick: total('total'), post: true },
  'POST /v1/logs/exports/estimate': {
    kind: 'figures',
    path: '/v1/logs/exports/estimate',
    workspace: 'workspace_slug',
    pick: total('rows'),
    post: true,
  },
  'GET /v1/logs/exports': list('export', '/v1/logs/exports?search=seen', (row) => [row['description']]),
  'GET /v1/logs/exports/{exportId}': each('export', 'GET', (id) => `/v1/logs/exports/${id}`),
  'PUT /v1/logs/exports/{exportId}': each(
    'export',
    'PUT',
    (id) => `/v1/logs/exports/${id}`,
    () => exportOf,
  ),
  'POST /v1/logs/exports/{exportId}/start': each('export', 'POST', (id) => `/v1/logs/exports/${id}/start`),
  'POST /v1/logs/exports/{exportId}/cancel': each('export', 'POST', (id) => `/v1/logs/exports/${id}/cancel`),
  'GET /v1/logs/exports/{exportId}/download': each('export', 'GET', (id) => `/v1/logs/exports/${id}/download`),
}

const operationOf = (route: Route) => `${route.method} ${wholePath(route).replaceAll(/:(\w+)/g, '{$1}')}`
const own = new Set(['logs', 'log-replay', 'traces', 'saved-filters', 'log-exports', 'explain', 'events'])
const operations = features
  .filter(({ id }) => own.has(id) || id.includes('analytics'))
  .flatMap(({ routes }) => routes)
  .map(operationOf)

/** Analytics are all alike: the requested figures are in the path. */
const probeOf = (operation: string): Probe | null => {
  const found = probes[operation]
  if (found !== undefined) return found
  const [method, path = ''] = operation.split(' ')
  return method === 'GET' && path.startsWith('/v1/analytics/')
    ? figures(path.replaceAll(/\{(\w+)\}/g, (_, name: string) => groupValues[name] ?? name))
    : null
}

/** Filters that leave one set of logs for a caller who sees them all; null: it is empty for this caller. */
function filtersOf(set: SetName, caller: string, workspace: 'workspace_slug' | 'workspace_id'): Readonly<Record<string, string>> | null {
  if (set === 'all') return {}
  if (set === 'workspace') return { [workspace]: 'main' }
  if (set === 'side') return { [workspace]: 'side' }
  return set === 'none' ? { api_key_ids: '01980000-0000-7000-8000-0000000000ff' } : seen.ownFilter(caller)
}

const withQuery = (path: string, query: Readonly<Record<string, string>>) =>
  `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams({ ...query, ...seen.bounds }).toString()}`

/** Answers for a caller who sees everything, by request: asked once, since no setting changes them. */
const shownTo = new Map<string, Promise<unknown>>()

type Figures = Extract<Probe, { kind: 'figures' }>

const askFigures = ({ path, pick = (body: Body) => body, post }: Figures, filters: Readonly<Record<string, string>>) => {
  const asked: Ask =
    post === true
      ? { method: 'POST', path, body: { ...exportOf, filters: { ...filters, ...seen.bounds } } }
      : { method: 'GET', path: withQuery(path, filters) }
  return { asked, figuresOf: (text: string) => JSON.stringify(pick(JSON.parse(text) as Body)) }
}

function reference(probe: Figures, filters: Readonly<Record<string, string>>): Promise<unknown> {
  const { asked, figuresOf } = askFigures(probe, filters)
  const key = JSON.stringify(asked)
  const found = shownTo.get(key)
  if (found !== undefined) return found
  const answer = callers.ask('admin key', asked).then(({ status, text }) => {
    if (status !== 200) throw new Error(`${key}: ${status} ${text}`)
    return figuresOf(text)
  })
  shownTo.set(key, answer)
  return answer
}

/** The figures of each set of logs that this caller could be shown. */
async function references(probe: Figures, caller: string): Promise<ReadonlyMap<SetName, unknown>> {
  const sets = await Promise.all(
    setNames.map(async (set) => {
      const filters = filtersOf(set, caller, probe.workspace)
      return filters === null ? [] : [[set, await reference(probe, filters)] as const]
    }),
  )
  return new Map(sets.flat())
}

const isRefused = (status: number, text: string) => status === 403 || (status === 401 && /There is no session here|No API key/.test(text))

async function cellOf(operation: string, probe: Probe, caller: string): Promise<string> {
  if (probe.kind === 'each') return cellOfEach(probe, caller)
  const asked = probe.kind === 'figures' ? askFigures(probe, {}).asked : askList(probe)
  const { status, text } = await callers.ask(caller, asked)
  if (isRefused(status, text)) return '-'
  if (status !== 200) throw new Error(`${caller}: ${operation}: ${status} ${text}`)
  if (probe.kind === 'list') return markOf(seen.setOf(probe.sources(JSON.parse(text) as Body), caller, seen.allFor(caller, probe.of)))
  const told = askFigures(probe, {}).figuresOf(text)
  const same = [...(await references(probe, caller))].flatMap(([set, shown]) => (shown === told ? [set] : []))
  const [set = null] = same.length === 1 ? same : []
  return set === null || seen.namesBeyond(set, caller).some((name) => text.includes(`"${name}"`)) ? '?' : markOf(set)
}

/** Exports and filters have no time. */
const askList = ({ of, path }: Extract<Probe, { kind: 'list' }>): Ask => ({
  method: 'GET',
  path: of === 'log' ? withQuery(path, {}) : path,
})

const markOf = (set: SetName | null): string => (set === null ? '?' : marks[set])

/** Asks for one thing of each source: one's own, a colleague's, of another workspace, of another organisation. */
async function cellOfEach({ of, ask }: Extract<Probe, { kind: 'each' }>, caller: string): Promise<string> {
  const answers: (readonly [source: Source, answer: { readonly status: number; readonly text: string }])[] = []
  for (const source of seen.sourcesFor(caller, of)) answers.push([source, await callers.ask(caller, ask(source[of]))])
  if (answers.every(([, { status, text }]) => isRefused(status, text))) return '-'
  const fault = answers.find(([, { status }]) => status >= 500 || status === 401)
  if (fault !== undefined) throw new Error(`${caller}: ${JSON.stringify(ask(fault[0][of]))}: ${fault[1].status} ${fault[1].text}`)
  const shown = answers.filter(([, { status }]) => status !== 404).map(([{ name }]) => name)
  return markOf(seen.setOf(shown, caller, seen.sourcesFor(caller, of)))
}

/** The lines of the file: for each state of the settings those that differ from the first state. */
async function matrix(): Promise<readonly string[]> {
  const lines: string[] = []
  let first: ReadonlyMap<string, string> | null = null
  const probed = operations.flatMap((operation) => {
    const probe = probeOf(operation)
    return probe === null ? [] : [{ operation, probe }]
  })
  for (const state of seen.states) {
    await state.set()
    const cells = probed.flatMap(({ operation, probe }) => names.map((caller) => ({ operation, probe, caller })))
    const told = await inParallel(cells, 6, ({ operation, probe, caller }) => cellOf(operation, probe, caller))
    const rows = new Map(
      probed.map(({ operation }, at) => {
        const row = told.slice(at * names.length, (at + 1) * names.length).join('')
        return [operation, [row.slice(0, 2), row.slice(2, 7), row.slice(7, 12), row.slice(12)].join(' ')]
      }),
    )
    lines.push('', `## ${state.name}`, '')
    for (const [operation, row] of rows) if (first?.get(operation) !== row) lines.push(`${operation.padEnd(56)} ${row}`)
    first ??= rows
  }
  return lines
}

test.serial('every route that tells of logs is in the matrix', (t) => {
  t.deepEqual(
    operations.filter((operation) => probeOf(operation) === null && tellNothing[operation] === undefined),
    [],
  )
  t.deepEqual(
    [...Object.keys(probes), ...Object.keys(tellNothing)].filter((operation) => !operations.includes(operation)),
    [],
  )
})

test.serial('figures tell the sets of logs apart', async (t) => {
  for (const operation of operations) {
    const probe = probeOf(operation)
    if (probe?.kind !== 'figures') continue
    for (const caller of names) {
      const sets = await references(probe, caller)
      t.is(new Set(sets.values()).size, sets.size, `${operation}, ${caller}: some of ${[...sets.keys()].join(', ')} have the same figures`)
    }
  }
})

test.serial('who sees which logs is as the reviewed file says', async (t) => {
  const text = readFileSync(golden, 'utf8')
  const [head = ''] = text.split('\n## ', 1)
  const now = `${head.trimEnd()}\n${(await matrix()).join('\n')}\n`
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(golden, now)
  t.false(/ [^ ]*\?/.test(now.slice(head.length)), 'an answer shows none of the sets of logs')
  t.deepEqual(now.split('\n'), readFileSync(golden, 'utf8').split('\n'))
})
