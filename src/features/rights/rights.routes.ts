import { route } from '../../app/route.ts'
import { decide } from '../../lib/access/decisions.ts'
import { ApiError } from '../../lib/errors.ts'
import { apiKeyParams, findKey, keyScopes } from '../api-keys/index.ts'
import { statusAt } from '../limits/index.ts'
import { findUser, userParams } from '../users/index.ts'
import { findWorkspace } from '../workspaces/index.ts'
import { Workspace } from '../workspaces/workspace.entity.ts'
import { decideFor, keyReason, standingOfKey } from './key-rights.ts'
import { actingOf, ownDataOnly, placeAskedFor, presentDecision, reasonOf, scopesAt } from './rights.ts'
import {
  keyRights,
  keyRightsQuery,
  rightsQuery,
  scopeCatalogue,
  scopesQuery,
  settingCatalogue,
  settingsQuery,
  userRights,
} from './rights.schema.ts'
import { presentScopes } from './scope-catalogue.ts'
import { presentProcessSettings, presentSettings } from './setting-catalogue.ts'

const presentPlace = (workspace: Workspace | null) => workspace && { id: workspace.id, slug: workspace.slug, name: workspace.name }

export const readUserRights = route({
  method: 'GET',
  path: '/admin/users/:userId/rights',
  summary: 'Show the rights of a person in a workspace or in the organisation, and their reasons',
  permission: ['organisation_users.read', 'workspace_users.read'],
  params: userParams,
  query: rightsQuery,
  response: userRights,
})(async ({ em, actor, deps, params, query }) => {
  // Rights in the organisation are shown to callers that see its people, not to those of one workspace.
  if (query.workspace === undefined && !actor.permissions.has('organisation_users.read'))
    throw new ApiError('AB08', 'You do not see the people of the organisation as a whole: name a workspace.', { param: 'workspace' })
  const user = await findUser(em, actor, { id: params.userId })
  const workspace = await placeAskedFor(em, actor, { user, workspace: query.workspace })
  const acting = await actingOf(em, user, workspace)
  return {
    object: 'rights' as const,
    user: { id: user.id, email: user.email, role: user.role },
    workspace: presentPlace(workspace),
    role: acting.role,
    sees_own_data_only: ownDataOnly(acting),
    data: scopesAt(deps.level, query.scope).map((scope) => {
      const decision = decide(scope, acting)
      return presentDecision(decision, reasonOf(decision, acting))
    }),
  }
})

export const readKeyRights = route({
  method: 'GET',
  path: '/api-keys/:id/rights',
  summary: 'Show the rights of an API key, and their reasons',
  permission: keyScopes('read'),
  params: apiKeyParams,
  query: keyRightsQuery,
  response: keyRights,
})(async ({ em, actor, deps, params, query }) => {
  const key = await findKey(em, actor, { id: params.id, verb: 'read' })
  const nowMs = deps.clock.now()
  const standing = await standingOfKey(em, key, nowMs)
  const workspace = key.workspaceId ? await em.findOne(Workspace, { id: key.workspaceId }) : null
  const { person } = standing
  return {
    object: 'rights' as const,
    key: { id: key.id, name: key.name, type: key.type, status: statusAt(key, nowMs), user_id: key.userId ?? null },
    workspace: presentPlace(workspace),
    role: person?.role ?? null,
    sees_own_data_only: person !== null && ownDataOnly(person),
    data: scopesAt(deps.level, query.scope).map((scope) => {
      const decision = decideFor(scope, standing)
      return presentDecision(decision, keyReason(decision, standing))
    }),
  }
})

export const listScopes = route({
  method: 'GET',
  path: '/catalogue/scopes',
  summary: 'List the scopes that keys can have and roles give, with presets',
  permission: ['workspaces.list', ...keyScopes('list')],
  query: scopesQuery,
  response: scopeCatalogue,
})(async ({ deps, query }) => Promise.resolve(presentScopes(deps.level, query.group)))

export const listSettings = route({
  method: 'GET',
  path: '/catalogue/settings',
  summary: 'List the settings of the organisation: their effects, values, and the people that they bind',
  permission: ['organisation_settings.read', 'workspaces.read'],
  query: settingsQuery,
  response: settingCatalogue,
})(async ({ em, actor, deps, query }) => {
  const reference = query.workspace ?? actor.workspaceId
  const workspace = reference === null ? null : await findWorkspace(em, actor, { reference, param: 'workspace' })
  const { organisationId } = actor
  const isAsked = ({ name }: { readonly name: string }) => query.name === undefined || name === query.name
  return {
    object: 'setting_catalogue' as const,
    workspace: presentPlace(workspace),
    data: (await presentSettings(em, { organisationId, workspace }, deps.level)).filter(isAsked),
    environment: presentProcessSettings(deps.config, deps.level).filter(isAsked),
  }
})
