import type { EntityManager } from '@mikro-orm/postgresql'
import type { Deps } from '../../app/deps.ts'
import { ownOrigin } from '../../app/own-origin.ts'
import { route, type Actor } from '../../app/route.ts'
import { effectiveSettings } from '../../lib/access/access-settings.ts'
import { roleIn, scopesOfRole } from '../../lib/access/roles.ts'
import { personScopes } from '../../lib/access/scopes.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { User } from '../users/user.entity.ts'
import { Workspace } from '../workspaces/workspace.entity.ts'
import { WorkspaceMember } from '../workspaces/workspace-member.entity.ts'
import { Session, needsFactor } from '../sessions/index.ts'
import { factorsOf, hasFactor } from './factors/factors.ts'
import { meView } from './me.schema.ts'
import { signedInHere } from './signed-in-here.ts'
import { UserPassword } from './user-password.entity.ts'

export const readMe = route({
  method: 'GET',
  path: '/auth/me',
  below: '/',
  summary: 'Show the signed-in person, their rights, and the features of this installation',
  permission: [],
  callers: ['session'],
  response: meView,
})(async ({ em, actor, deps }) => {
  const { id, csrfToken, expiresAt } = signedInHere(actor)
  return {
    ...(await presentPerson(em, actor)),
    session: { id, expires_at: new Date(expiresAt).toISOString(), idle_timeout_seconds: deps.config.sessions.idleMs / 1000 },
    csrf_token: csrfToken,
    installation: presentInstallation(deps),
  }
})

async function presentPerson(em: EntityManager, { userId, session }: Actor) {
  const user = await em.findOneOrFail(User, { id: userId ?? '' })
  const organisation = await em.findOneOrFail(Organisation, { id: user.organisationId })
  const members = await em.find(WorkspaceMember, { userId: user.id }, { orderBy: { createdAt: 'asc', id: 'asc' } })
  const own = members.map(({ workspaceId }) => workspaceId)
  const visible = user.role === 'member' ? { id: { $in: own } } : { organisationId: user.organisationId }
  const workspaces = await em.find(Workspace, { ...visible, status: 'active' }, { orderBy: { name: 'asc', id: 'asc' }, limit: 1000 })
  const settings = effectiveSettings(organisation.settings, {})
  return {
    user: {
      id: user.id,
      email: user.email,
      first_name: user.firstName ?? null,
      last_name: user.lastName ?? null,
      role: user.role,
      has_password: (await em.count(UserPassword, { userId: user.id })) > 0,
      second_factors: await presentFactors(em, user, { session, settings: organisation.settings }),
    },
    organisation: { id: organisation.id, slug: organisation.slug, name: organisation.name },
    scopes: user.role === 'member' ? [] : [...scopesOfRole(personScopes(user.role), roleIn(user.role, null), settings)],
    settings,
    default_workspace: defaultOf(user, workspaces, own),
    workspaces: workspaces.flatMap((workspace) => {
      const role = roleIn(user.role, members.find(({ workspaceId }) => workspaceId === workspace.id)?.role ?? null)
      const there = effectiveSettings(organisation.settings, workspace.accessOverrides)
      const { id, slug, name } = workspace
      return role === null
        ? []
        : [{ id, slug, name, role, scopes: [...scopesOfRole(personScopes(user.role), role, there)], settings: there }]
    }),
  }
}

async function presentFactors(em: EntityManager, { id }: User, { session, settings }: Rule) {
  const factors = await factorsOf(em, id)
  const { totp, passkeys, recoveryCodes } = factors
  const { method } = await em.findOneOrFail(Session, { id: session?.id ?? '' })
  return { totp, passkeys, recovery_codes: recoveryCodes, required: !hasFactor(factors) && needsFactor(settings, method) }
}

interface Rule {
  readonly session: Actor['session']
  /** The settings of the organisation. */
  readonly settings: unknown
}

/** Owners and admins act in the default workspace of the organisation; so do others who are in it, and else in the one they joined first. */
function defaultOf({ role }: User, workspaces: readonly Workspace[], joined: readonly string[]): string | null {
  const first = workspaces.find(({ isDefault }) => isDefault)
  if (first !== undefined || role !== 'member') return first?.id ?? null
  return joined.find((id) => workspaces.some((workspace) => workspace.id === id)) ?? null
}

const presentInstallation = ({ config, level, featuresOn }: Deps) => ({
  version: config.version,
  level: level.release,
  features: [...featuresOn()],
  public_url: ownOrigin(config),
  header_prefix: 'x-service-',
  log_retention_days: config.shownRetentionDays.logs,
  metrics_retention_days: config.shownRetentionDays.metrics,
})
