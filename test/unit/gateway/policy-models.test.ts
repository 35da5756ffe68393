import test from 'ava'
import { type PolicyRequest, policyLimits, type PolicyView } from '../../../src/gateway/limits/policy.ts'
import type { Limit } from '../../../src/gateway/limits/limit.ts'

const limit: Limit = {
  id: 'policy:p',
  organisationId: 'o',
  name: 'a limit',
  kind: 'rate',
  counts: 'requests',
  value: 1,
  window: { slotMs: 1000, slots: 60 },
}

const asking = (model: string): PolicyRequest => ({
  call: {
    caller: { key: { id: 'k', organisationId: 'o', workspaceId: 'w', workspaceSlug: 'main' } },
    metadata: { team: 'Red' },
    config: null,
    prompt: null,
  },
  endpoints: () => ['chatComplete'],
  target: { providerId: 'openai', model, view: { slug: 'Open', id: 'v' } },
})

const meets = (key: string, value: string, model: string, excludes: readonly string[] = []): boolean => {
  const policy: PolicyView = { id: 'p', conditions: [{ key, values: [value], excludes }], groupBy: [], limit, resets: new Map() }
  return policyLimits([policy], asking(model)).length === 1
}

/** Returns a policy for each model apart, but for those that are excluded. */
const eachModel = (excludes: readonly string[]): PolicyView => ({
  id: 'p',
  conditions: [{ key: 'model', values: ['*'], excludes }],
  groupBy: ['model'],
  limit,
  resets: new Map(),
})

/** Returns the names of the limits of such a policy for a request that names these models. */
const named = (excludes: readonly string[], ...names: readonly string[]) =>
  policyLimits([eachModel(excludes)], { ...asking('cheap'), models: () => names }).map(({ name }) => name)

test('a request that names several models meets a condition by any of them, and counts for the first that does', (t) => {
  t.deepEqual(named(['cheap'], 'cheap', 'Dear', 'other'), ['a limit for model:dear'], 'an excluded name is no decoy')
  t.deepEqual(named(['cheap', 'dear'], 'cheap', 'dear'), [])
  t.deepEqual(named([], 'dear'), ['a limit for model:cheap'], 'the model of the target is the first')
})

test('conditions compare names of models without regard to case, as price lists do, and all other names as they are', (t) => {
  for (const value of ['gpt-4o', 'GPT-4o', '@Open/gpt-4O', '@open/*', '*']) {
    t.true(meets('model', value, 'GPT-4O'), value)
    t.true(meets('model', value, 'gpt-4o'), value)
  }
  t.false(meets('model', '*', 'GPT-4O', ['gpt-4o']), 'what is excluded')
  t.false(meets('model', 'gpt-4', 'GPT-4O'))
  t.true(meets('metadata.team', 'Red', 'm'))
  t.false(meets('metadata.team', 'red', 'm'))
  t.false(meets('virtual_key', 'open', 'm'))
})
