import { settingState, type SettingState } from './access-settings.ts'
import { grantOf, type Role } from './roles.ts'

/** The deciders of whether a scope counts: the role alone, a setting of the organisation, its override in a workspace, or the key. */
export const deciders = ['role', 'setting', 'override', 'key'] as const
export type Decider = (typeof deciders)[number]

/** The answer to whether a caller may use a scope, with the reason. */
export interface Decision {
  readonly scope: string
  readonly allowed: boolean
  readonly decidedBy: Decider
  /** The settings that decide: those that are on if it is allowed, else all of which one would be enough. */
  readonly settings: readonly SettingState[]
}

/** A person where they act. */
export interface ActingPerson {
  /** Null: they have none there. */
  readonly role: Role | null
  /** The scopes that such a person can have at all. */
  readonly holds: ReadonlySet<string>
  /** As the organisation and the workspace have stored them. */
  readonly settings: unknown
  readonly overrides: unknown
}

/** Returns the reason why a person has a scope or lacks it, by the rules of `scopesOfRole`. */
export function decide(scope: string, { role, holds, settings, overrides }: ActingPerson): Decision {
  if (role === null || !holds.has(scope)) return { scope, allowed: false, decidedBy: 'role', settings: [] }
  const grant = grantOf(role, scope)
  if (typeof grant === 'boolean') return { scope, allowed: grant, decidedBy: 'role', settings: [] }
  const states = [grant].flat().map((name) => settingState(name, settings, overrides))
  const on = states.filter(({ value }) => value)
  const deciding = on.length > 0 ? on : states
  const isOverridden = deciding.some(({ source }) => source === 'workspace')
  return { scope, allowed: on.length > 0, decidedBy: isOverridden ? 'override' : 'setting', settings: deciding }
}

/** Returns the reason for a key with these scopes; a service key has them and no role. `person` is the holder of a user key. */
export function decideForKey(scope: string, scopes: ReadonlySet<string>, person: ActingPerson | null): Decision {
  if (person === null || !scopes.has(scope)) return { scope, allowed: scopes.has(scope), decidedBy: 'key', settings: [] }
  return decide(scope, person)
}
