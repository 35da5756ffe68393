import type { Config } from '../config/config.ts'
import { compareVersions } from '../release/version.ts'
import type { Feature, Job } from './feature.ts'
import { pruneIdempotencyKeys } from './http/idempotency.ts'
import { pruneChanges } from './snapshot/prune-changes.ts'

/** A feature with the reason why this process does not offer it; null when it does. */
export interface Mounted {
  readonly feature: Feature
  readonly unavailable: string | null
}

/** Says of each feature whether it is on: by its flag, by this build's release, and by what it requires. */
export function mountFeatures(features: readonly Feature[], config: Pick<Config, 'flags' | 'version'>): readonly Mounted[] {
  const off = new Set<string>()
  return features.map((feature) => {
    const unavailable = reasonAgainst(feature, config, off)
    if (unavailable !== null) off.add(feature.id)
    return { feature, unavailable }
  })
}

function reasonAgainst(feature: Feature, { flags, version }: Pick<Config, 'flags' | 'version'>, off: ReadonlySet<string>): string | null {
  const { id, since, flag, requires = [] } = feature
  if (flag !== undefined && !flags[flag]) return `The feature ${id} is off. Set ${flag} to ON, or remove it, to turn it on.`
  if (!flags.API_ACCESS_ENABLED && feature.routes.length > 0)
    return 'The control-plane API is off. Set API_ACCESS_ENABLED to ON, or remove it, to turn it on.'
  if (compareVersions(since, version) > 0) return `The feature ${id} comes with release ${since}. This is release ${version}.`
  const missing = requires.find((other) => off.has(other))
  return missing === undefined ? null : `The feature ${id} needs the feature ${missing}, which is off.`
}

/** The background work of the features that are on, and of the frame itself. */
export const jobsOf = (features: readonly Feature[], config: Pick<Config, 'flags' | 'version'>): readonly Job[] => [
  pruneChanges,
  pruneIdempotencyKeys,
  ...mountFeatures(features, config).flatMap(({ feature, unavailable }) => (unavailable === null ? (feature.jobs ?? []) : [])),
]
