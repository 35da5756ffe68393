import type { EntityManager } from '@mikro-orm/postgresql'
import type { Config } from '../../config/config.ts'
import type { Level } from '../../release/level.ts'
import { Workspace } from '../workspaces/workspace.entity.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { describedSettings, type Bound, type DescribedSetting } from './described-settings.ts'

/** The organisation whose settings are shown, as a whole or in one workspace. */
export interface SettingsOf {
  readonly organisationId: string
  readonly workspace: Workspace | null
}

/** Returns the settings that there are at a level, with their values and the people that they bind. */
export async function presentSettings(em: EntityManager, { organisationId, workspace }: SettingsOf, level: Level) {
  const { settings } = await em.findOneOrFail(Organisation, { id: organisationId })
  const where = { organisationId, status: 'active' as const, ...(workspace !== null && { id: workspace.id }) }
  const places = await em.find(Workspace, where, { orderBy: { name: 'asc', id: 'asc' } })
  const people = await countPeople(em, workspace?.id ?? null)
  return describedSettings
    .filter(({ since }) => since === null || level.atLeast(since))
    .map((setting) => {
      const { value, source } = counting(setting, settings, workspace)
      return {
        name: setting.name,
        category: setting.category,
        effect: setting.effect,
        default: setting.otherwise,
        since: setting.since,
        value,
        source,
        overrides: overridesOf(setting, places),
        binds: setting.binds,
        people_bound: people[setting.binds],
      }
    })
}

/** Returns the settings of the process that there are at a level. They are read at its start, and cannot be changed over the API. */
export const presentProcessSettings = ({ told }: Pick<Config, 'told'>, level: Level) =>
  told
    .filter(({ since }) => level.atLeast(since))
    .map(({ name, effect, otherwise, since, given }) => ({
      name,
      effect,
      default: otherwise,
      since,
      value: given ?? otherwise,
      source: given === null ? ('default' as const) : ('environment' as const),
    }))

const overridesOf = (setting: DescribedSetting, places: readonly Workspace[]) =>
  places.flatMap((place) => {
    const value = override(setting, place)
    return value === undefined ? [] : [{ workspace_id: place.id, slug: place.slug, name: place.name, value }]
  })

function counting(setting: DescribedSetting, settings: unknown, workspace: Workspace | null) {
  const there = workspace === null ? undefined : override(setting, workspace)
  if (there !== undefined) return { value: there, source: 'workspace' as const }
  const stored = setting.name.split('.').reduce(field, settings) ?? null
  return stored === null ? { value: setting.otherwise, source: 'default' as const } : { value: stored, source: 'organisation' as const }
}

/** The value that a workspace has of its own; undefined: none. */
const override = ({ name, category }: DescribedSetting, { accessOverrides }: Workspace): unknown =>
  category === null ? undefined : (field(field(accessOverrides, category), name) ?? undefined)

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

/** Owners and admins of the organisation are bound by no setting for managers and members, in any role in a workspace. */
const count = `
  SELECT count(DISTINCT u.id) FILTER (WHERE u.role = 'member' AND m.role = 'member')::int AS members,
         count(DISTINCT u.id) FILTER (WHERE u.role = 'member' AND m.role = 'manager')::int AS managers,
         count(DISTINCT u.id) FILTER (WHERE u.role = 'admin')::int AS "organisation-admins",
         count(DISTINCT u.id) FILTER (WHERE ?::uuid IS NULL OR m.id IS NOT NULL OR u.role <> 'member')::int AS everybody
    FROM users u
    LEFT JOIN (workspace_members m JOIN workspaces w ON w.id = m.workspace_id AND w.status = 'active')
      ON m.user_id = u.id AND (?::uuid IS NULL OR m.workspace_id = ?::uuid)
   WHERE u.status = 'active'`

async function countPeople(em: EntityManager, workspaceId: string | null): Promise<Readonly<Record<Bound, number>>> {
  const [row] = await em.execute<Record<Bound, number>[]>(count, [workspaceId, workspaceId, workspaceId])
  return row ?? { members: 0, managers: 0, 'organisation-admins': 0, everybody: 0 }
}
