/** The requests for logs and analytics, by the kind of their target. */
const random = (below: number) => Math.floor(Math.random() * below)

const graphs = [
  'requests',
  'cost',
  'latency',
  'tokens',
  'users',
  'users/requests',
  'errors/rate',
  'errors/stacks',
  'requests/rescued',
  'cache/hit-rate',
]
const groups = ['ai_service', 'model', 'status_code', 'api_key', 'config', 'workspace', 'provider', 'prompt']
const columns =
  'cost,total_tokens,avg_tokens,avg_latency,p95_latency,p99_latency,success_rate,error_count,cache_hit_rate,last_seen,first_seen'

/** The filters of the list of logs, with a value of each. */
const filters: readonly (() => string)[] = [
  () => `workspace_id=bench-${random(9) + 1}`,
  () => `ai_model=model-${random(12)}`,
  () => `status_code=${[200, 429, 500, 400][random(4)]}`,
  () => `virtual_keys=slug-${random(4)}`,
  () => `cost_min=${random(100) / 100}`,
  () => `total_units_min=${random(5000)}`,
  () => `metadata=${encodeURIComponent(`{"env":"env-${random(3)}"}`)}`,
  () => `metadata=${encodeURIComponent(`{"_user":"user-${random(20_000)}"}`)}`,
  () => `is_success=false`,
]
const pairs = filters.flatMap((one, at) => filters.slice(at + 1).map((other) => () => `/logs?${one()}&${other()}`))

export interface Question {
  readonly what: string
  readonly path: () => string
  readonly times: number
}

const often = 15
const seldom = 5
const question = (times: number, what: string, path: () => string): Question => ({ what, path, times })

export const questions: Readonly<Record<string, readonly Question[]>> = {
  'from roll-ups': [
    ...graphs.map((name) => question(often, `graph ${name}`, () => `/analytics/graphs/${name}`)),
    ...graphs
      .slice(0, 3)
      .map((name) =>
        question(often, `graph ${name}, one workspace`, () => `/analytics/graphs/${name}?workspace_slug=bench-${random(9) + 1}`),
      ),
    question(often, 'graph cost, one model', () => `/analytics/graphs/cost?ai_model=model-${random(12)}`),
    ...groups.map((by) => question(often, `group ${by}, 11 columns`, () => `/analytics/groups/${by}?columns=${columns}`)),
    question(often, 'the cache in one line', () => '/analytics/summary/cache'),
  ],
  'from logs': [
    question(seldom, 'group users', () => '/analytics/groups/users'),
    question(seldom, 'group users, one workspace', () => `/analytics/groups/users?workspace_slug=bench-${random(9) + 1}`),
    question(seldom, 'group metadata/env', () => '/analytics/groups/metadata/env'),
    question(seldom, 'graph cost, cost_min', () => '/analytics/graphs/cost?cost_min=0.5'),
    question(seldom, 'graph users, one model', () => `/analytics/graphs/users?ai_model=model-${random(12)}`),
  ],
  lists: [question(5 * pairs.length, 'list of logs, each pair of filters', () => pairs[random(pairs.length)]?.() ?? '')],
}

/** The pages that people look at all day. */
export const graphsOfAll = questions['from roll-ups']?.slice(0, graphs.length).map(({ path }) => path) ?? []
