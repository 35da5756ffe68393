// Budgets take parts of a US dollar wherever they are given, and count them to the last digit.
import test from 'ava'
import { toGatewayLimits } from '../../../src/gateway/limits/written-limits.ts'
import { startControl, type Control, type Tenant } from './setup.ts'

let control: Control
let acme: Tenant
test.before(async () => {
  control = await startControl()
  acme = await control.createTenant('acme')
})
test.after.always(() => control?.close())

interface Place {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** Workspaces hold a list. */
  readonly lists?: true
}

const places: readonly Place[] = [
  { path: '/api-keys/workspace/service', body: { name: 'k', scopes: ['logs.list'] } },
  { path: '/virtual-keys', body: { name: 'v', provider: 'openai', key: 'sk' } },
  { path: '/admin/workspaces', body: { name: 'w' }, lists: true },
]

const give = ({ path, body, lists }: Place, budget: object, at: number) => {
  const name = `${String(body['name'])}-${at}`
  const key = path.startsWith('/admin') ? acme.adminKey : acme.workspaceKey
  return control.call(key, 'POST', path, { ...body, name, usage_limits: lists === true ? [budget] : budget })
}

test('parts of a dollar are taken everywhere, and refused where they cannot be counted', async (t) => {
  for (const place of places) {
    for (const [at, credit_limit] of [0.5, 0.07, 1.000000001, 0.000000001, 12].entries()) {
      const answer = await give(place, { credit_limit, alert_threshold: credit_limit }, at)
      t.is(answer.status, 200, `${place.path} ${credit_limit}: ${answer.text}`)
    }
    const root = place.lists === true ? 'usage_limits[0]' : 'usage_limits'
    for (const [budget, field] of [
      [{ credit_limit: 0 }, 'credit_limit'],
      [{ credit_limit: -0.5 }, 'credit_limit'],
      [{ credit_limit: 0.0000000001 }, 'credit_limit'],
      [{ credit_limit: 1, alert_threshold: 0.1234567891 }, 'alert_threshold'],
      [{ type: 'tokens', credit_limit: 1.5 }, 'credit_limit'],
      [{ type: 'requests', credit_limit: 2, alert_threshold: 0.5 }, 'alert_threshold'],
      [{ credit_limit: '0.5' }, 'credit_limit'],
    ] as const) {
      const answer = await give(place, budget, 99)
      t.is(answer.status, 400, `${place.path} ${JSON.stringify(budget)}: ${answer.text}`)
      t.like(answer.body['error'], { param: `${root}.${field}` }, JSON.stringify(budget))
    }
  }
})

test('a budget is shown as it was given', async (t) => {
  const made = await give(places[0] as Place, { credit_limit: 0.07 }, 50)
  const { body } = await control.call(acme.workspaceKey, 'GET', `/api-keys/${String(made.body['id'])}`)
  t.like(body, { usage_limits: { credit_limit: 0.07 }, usage: { limit: 0.07, spent: 0 } })
})

test('money is counted in whole billionths of a dollar', (t) => {
  const owner = { kind: 'api-key', id: 'k', organisationId: 'o', rateLimits: null, usageFrom: null, createdAt: 0 } as const
  for (const [dollars, nano, name] of [
    [0.07, 70_000_000, '$0.07'],
    [1.1, 1_100_000_000, '$1.1'],
    [0.000000001, 1, '$0.000000001'],
    [4.35, 4_350_000_000, '$4.35'],
    [10, 10_000_000_000, '$10'],
  ] as const) {
    const [limit] = toGatewayLimits({ ...owner, usageLimits: { credit_limit: dollars, alert_threshold: dollars } }) ?? []
    t.is(limit?.value, nano)
    t.is(limit?.budget?.threshold, nano)
    t.is(limit?.name, `${name} of the API key`)
  }
})
