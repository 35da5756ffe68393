import type { Deps } from '../../app/deps.ts'
import { levelAdvice } from '../../app/mount.ts'
import { sinceOf } from '../../lib/access-settings.ts'
import { ApiError } from '../../lib/errors.ts'
import { type Fields, isFields } from '../../lib/fields.ts'

type Stage = Pick<Deps, 'config' | 'level'>
type Given = Fields | null | undefined

/** Whether the level has reached a setting. */
export function isReached(name: string, { level }: Pick<Stage, 'level'>): boolean {
  const since = sinceOf(name)
  return since === null || level.atLeast(since)
}

/** AB01 for a setting that a later release brings. */
export function demandReached(given: Given, { stage, path }: { readonly stage: Stage; readonly path: string }): void {
  for (const [name, value] of Object.entries(given ?? {})) {
    const since = sinceOf(name)
    if (value === null || value === undefined || since === null || stage.level.atLeast(since)) continue
    throw new ApiError('AB01', `The setting ${name} comes with release ${since}. ${levelAdvice(since, stage.config, stage.level)}`, {
      param: `${path}.${name}`,
    })
  }
}

/** The same, for what a workspace overrides, category by category. */
export function demandOverridesReached(given: Given, stage: Stage): void {
  for (const [category, settings] of Object.entries(given ?? {}))
    if (isFields(settings)) demandReached(settings, { stage, path: `access_overrides.${category}` })
}
