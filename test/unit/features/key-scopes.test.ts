import { effectiveSettings } from '../../../src/lib/access/access-settings.ts'
import test from 'ava'
import type { Actor } from '../../../src/app/route.ts'
import { checkMayGrant, checkScopesFit } from '../../../src/features/api-keys/key-scopes.ts'
import { toKeyType } from '../../../src/features/api-keys/api-keys.ts'

const actor = (workspaceId: string | null, ...permissions: string[]): Actor => ({
  type: 'api_key',
  id: 'k',
  keyType: workspaceId === null ? 'organisation-service' : 'workspace-service',
  organisationId: 'o',
  workspaceId,
  userId: null,
  role: null,
  settings: effectiveSettings({}, {}),
  permissions: new Set(permissions),
})

test('a scope belongs to a type of key', (t) => {
  t.notThrows(() => checkScopesFit('organisation-service', ['audit_logs.list', 'providers.create']))
  t.notThrows(() => checkScopesFit('workspace-service', ['completions.write', 'workspace_user_api_keys.create']))
  t.like(
    t.throws(() => checkScopesFit('organisation-service', ['completions.write'])),
    { code: 'AB01', param: 'scopes' },
  )
  t.like(
    t.throws(() => checkScopesFit('workspace-service', ['audit_logs.list'])),
    { code: 'AB01' },
  )
  t.like(
    t.throws(() => checkScopesFit('workspace-user', ['workspace_user_api_keys.create'])),
    { code: 'AB01' },
  )
  t.like(
    t.throws(() => checkScopesFit('workspace-user', ['__proto__'])),
    { code: 'AB01' },
  )
})

test('nobody grants a scope that they do not hold', (t) => {
  const workspaceKey = actor('w', 'providers.read', 'completions.write')
  t.notThrows(() => checkMayGrant(workspaceKey, ['providers.read', 'completions.write']))
  t.like(
    t.throws(() => checkMayGrant(workspaceKey, ['providers.read', 'providers.delete'])),
    { code: 'AB03', param: 'scopes' },
  )
  t.like(
    t.throws(() => checkMayGrant(workspaceKey, ['prompts.render'])),
    { code: 'AB03' },
  )
})

test('an organisation key grants what only workspace keys can hold', (t) => {
  const organisationKey = actor(null, 'providers.read')
  t.notThrows(() => checkMayGrant(organisationKey, ['completions.write', 'prompts.render', 'providers.read']))
  t.like(
    t.throws(() => checkMayGrant(organisationKey, ['completions.write', 'providers.delete'])),
    { code: 'AB03' },
  )
})

test('there is no user key of an organisation', (t) => {
  t.is(toKeyType('workspace', 'user'), 'workspace-user')
  t.is(toKeyType('workspace', 'service'), 'workspace-service')
  t.is(toKeyType('organisation', 'service'), 'organisation-service')
  t.like(
    t.throws(() => toKeyType('organisation', 'user')),
    { code: 'AB01', param: 'subType' },
  )
})
