// Ids in the conditions of policies: rows of earlier builds have them as callers wrote them.
import test from 'ava'
import { type PolicyRequest, policyLimits, type PolicyView } from '../../../src/gateway/limits/policy.ts'

const id = '0191b2c3-d4e5-7f60-8a9b-abcdefabcdef'

const request: PolicyRequest = {
  call: {
    caller: { key: { id, organisationId: id, workspaceId: id, workspaceSlug: 'main' } },
    metadata: { id },
    config: { slug: id },
    prompt: { slug: 'hello', id },
  },
  endpoints: () => [id],
  target: { providerId: id, model: id, view: { slug: 'p', id } },
}

const keys = [
  'api_key',
  'workspace_id',
  'organisation_id',
  'virtual_key',
  'provider',
  'config',
  'prompt',
  'model',
  'endpoint_type',
] as const

const meets = (key: string, fields: Pick<PolicyView['conditions'][number], 'values' | 'excludes'>): boolean => {
  const limit = { id: 'l', name: 'l', type: 'requests', unit: 'rpm', value: 1 } as unknown as PolicyView['limit']
  return policyLimits([{ id: 'p', conditions: [{ key, ...fields }], groupBy: [key], limit, resets: new Map() }], request).length === 1
}

for (const key of keys)
  test(`${key}: an id in capital letters is met, and is excluded`, (t) => {
    t.true(meets(key, { values: [id.toUpperCase()], excludes: [] }))
    t.true(meets(key, { values: ['other', id.toUpperCase()], excludes: [] }))
    t.false(meets(key, { values: ['*'], excludes: [id.toUpperCase()] }))
  })

test('values of metadata are compared to the letter', (t) => {
  t.true(meets('metadata.id', { values: [id], excludes: [] }))
  t.false(meets('metadata.id', { values: [id.toUpperCase()], excludes: [] }))
})
