import test from 'ava'
import { organisationScopes, userScopes, workspaceScopes } from '../../../../src/lib/access/scopes.ts'

test('every scope is resource.verb and stands in a list once', (t) => {
  for (const scopes of [organisationScopes, workspaceScopes, userScopes]) {
    t.is(new Set(scopes).size, scopes.length)
    for (const scope of scopes) t.regex(scope, /^[a-z_]+\.[a-z]+$/)
  }
})

const holds = test.macro((t, scope: string, holders: readonly ('organisation' | 'workspace' | 'user')[]) => {
  const lists = { organisation: organisationScopes, workspace: workspaceScopes, user: userScopes }
  t.deepEqual(
    (['organisation', 'workspace', 'user'] as const).filter((name) => lists[name].includes(scope)),
    [...holders],
  )
})

test('completions.write', holds, 'completions.write', ['workspace', 'user'])
test('prompts.render', holds, 'prompts.render', ['workspace', 'user'])
test('audit_logs.list', holds, 'audit_logs.list', ['organisation'])
test('organisation_integrations.create', holds, 'organisation_integrations.create', ['organisation'])
test('workspace_service_api_keys.rotate', holds, 'workspace_service_api_keys.rotate', ['organisation', 'workspace'])
test('virtual_keys.list', holds, 'virtual_keys.list', ['organisation', 'workspace', 'user'])
test('logs.view', holds, 'logs.view', ['organisation', 'workspace', 'user'])
