import test from 'ava'
import { strategy } from '../../../../src/gateway/config/strategy.schema.ts'
import { compileCondition, type RouteFacts } from '../../../../src/gateway/routing/conditions.ts'

const facts: RouteFacts = {
  metadata: { plan: 'pro', seats: '12', beta: 'true' },
  params: { model: 'gpt-5', max_tokens: 500, stream: true, user: null, messages: [] },
  header: (name) => ({ 'x-team': 'search' })[name],
  url: { pathname: '/v1/chat/completions' },
  model: 'gpt-5',
  key: 'key-1',
  workspace: 'main',
}

const rows: readonly (readonly [query: object, holds: boolean])[] = [
  [{ 'metadata.plan': 'pro' }, true],
  [{ 'metadata.plan': { $eq: 'free' } }, false],
  [{ 'metadata.plan': { $ne: 'free' } }, true],
  [{ 'metadata.none': { $ne: 'free' } }, true],
  [{ 'metadata.none': { $eq: null } }, true],
  [{ 'metadata.seats': { $gt: 9 } }, true],
  [{ 'metadata.seats': { $gte: '2' } }, false],
  [{ 'metadata.seats': { $lt: 13, $gte: 12 } }, true],
  [{ 'metadata.plan': { $lt: 3 } }, false],
  [{ 'metadata.beta': { $eq: true } }, true],
  [{ 'metadata.plan': { $in: ['free', 'pro'] } }, true],
  [{ 'metadata.plan': { $nin: ['free', 'pro'] } }, false],
  [{ 'metadata.none': { $nin: ['free'] } }, true],
  [{ 'params.max_tokens': { $lte: 500 } }, true],
  [{ 'params.max_tokens': { $regex: '^5' } }, true],
  [{ 'params.stream': true }, true],
  [{ 'params.stream': 'true' }, false],
  [{ 'params.user': null }, true],
  [{ 'params.messages': { $regex: '.*' } }, false],
  [{ 'params.constructor': { $ne: null } }, false],
  [{ 'url.pathname': { $regex: '/chat/' } }, true],
  [{ $or: [{ 'metadata.plan': 'free' }, { 'params.model': 'gpt-5' }] }, true],
  [{ $and: [{ 'metadata.plan': 'pro' }, { 'params.model': 'gpt-4' }] }, false],
  [{ 'metadata.plan': 'pro', $or: [{ 'metadata.plan': 'free' }] }, false],
]

for (const [query, holds] of rows)
  test(`condition ${JSON.stringify(query)} ${holds ? 'holds' : 'does not hold'}`, (t) => {
    // oxlint-disable-next-line unicorn/no-thenable -- the name of the field in every config there is
    const parsed = strategy.parse({ mode: 'conditional', conditions: [{ query, then: 'a' }], default: 'a' })
    const [branch] = parsed.conditions ?? []
    t.is(branch && compileCondition(branch.query)(facts), holds)
  })
