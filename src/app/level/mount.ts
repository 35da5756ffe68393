import type { Config } from '../../config/config.ts'
import { isOn } from '../../config/effect.ts'
import { ApiError } from '../../lib/errors.ts'
import { fixedLevel, type Level } from '../../release/level.ts'
import type { Feature, Job } from '../feature.ts'
import type { Route } from '../route.ts'
import { deliverMailsJob, pruneMailOutcomesJob } from '../mail/outbox.ts'
import { evictDeleted } from '../database/evict-deleted.ts'
import { pruneIdempotencyKeys } from '../database/prune-idempotency-keys.ts'
import { pruneChanges } from '../snapshot/prune-changes.ts'

/** The reason why a feature is off, for the answer to a request for it. */
export interface Unavailable {
  /** Null: the records do not name the feature of the operation. */
  readonly feature: string | null
  /** The setting that turns it off. */
  readonly flag: string | null
  /** The release that brings it; null: none of the table does. */
  readonly release: string | null
  /** The reason, and the remedy. */
  readonly message: string
}

/** The answer to a request for an operation that is off. */
export const unavailableError = ({ feature: id, flag, release, message }: Unavailable): ApiError =>
  new ApiError('feature_unavailable', message, { details: { feature: { id, flag, release } } })

/** A feature with the reason why this installation does not offer it; null when it does. */
export interface MountedFeature {
  readonly feature: Feature
  readonly unavailable: Unavailable | null
}

/** The facts that decide whether a feature is on. */
export interface MountOptions {
  readonly config: Pick<Config, 'flags' | 'version' | 'releaseLevel'>
  readonly level: Pick<Level, 'release' | 'atLeast'>
}

/**
 * Decides for each feature whether it is on: by its flag, by the level, and by its requirements. A feature that loses some routes to a flag comes
 * twice, with the routes that are on and with those that are off.
 */
export function mountFeatures(features: readonly Feature[], options: MountOptions): readonly MountedFeature[] {
  const off = new Set<string>()
  return features.flatMap((feature) => {
    const unavailable = reasonAgainst(feature, options, off)
    if (unavailable === null) return byFlags(feature, options)
    off.add(feature.id)
    return [{ feature, unavailable }]
  })
}

function byFlags(feature: Feature, { config, level }: MountOptions): readonly MountedFeature[] {
  const isThere = ({ flag }: Route) => flag === undefined || isOn(flag, config, level)
  const missing = feature.routes.filter((route) => !isThere(route))
  if (missing.length === 0) return [{ feature, unavailable: null }]
  return [
    { feature: { ...feature, routes: feature.routes.filter(isThere) }, unavailable: null },
    ...missing.map((route) => ({
      feature: { ...feature, routes: [route], jobs: [], entities: [], files: [] },
      unavailable: {
        feature: feature.id,
        flag: route.flag ?? null,
        release: feature.since,
        message: `This part of the feature ${feature.id} is off. Set ${route.flag ?? ''} to ON, or remove it, to turn it on.`,
      },
    })),
  ]
}

/** The features that are on. */
export const featuresOn = (features: readonly Feature[], options: MountOptions): readonly Feature[] =>
  mountFeatures(features, options).flatMap(({ feature, unavailable }) => (unavailable === null ? [feature] : []))

function reasonAgainst(feature: Feature, { config, level }: MountOptions, off: ReadonlySet<string>): Unavailable | null {
  const { id, since, flag, requires = [] } = feature
  const because = (message: string, turnedOffBy: string | null = null): Unavailable => ({
    feature: id,
    flag: turnedOffBy,
    release: since,
    message,
  })
  if (flag !== undefined && !isOn(flag, config, level))
    return because(`The feature ${id} is off. Set ${flag} to ON, or remove it, to turn it on.`, flag)
  if (!level.atLeast(since)) return because(`The feature ${id} comes with release ${since}. ${levelAdvice(since, config, level)}`)
  const missing = requires.find((other) => off.has(other))
  return missing === undefined ? null : because(`The feature ${id} needs the feature ${missing}, which is off.`)
}

/** Returns why the level is below a release, and how to raise it. */
export function levelAdvice(
  since: string,
  { version, releaseLevel }: MountOptions['config'],
  { release: level }: MountOptions['level'],
): string {
  const atLeast = (bound: string) => fixedLevel(bound).atLeast(since)
  if (!atLeast(version)) return `This is release ${version}.`
  const advice =
    releaseLevel === null || atLeast(releaseLevel) ? 'Run "gatehouse finalize" to raise it.' : 'Raise RELEASE_LEVEL to raise it.'
  return `The level of this installation is ${level}. ${advice}`
}

/**
 * The background work of the frame itself and of the features that are or may come on while the process runs: the level may rise and bring a feature,
 * or the flag that turns it off. A run does nothing while its feature is off.
 */
export const jobsOf = (features: readonly Feature[], options: MountOptions): readonly Job[] => [
  pruneChanges,
  pruneIdempotencyKeys,
  evictDeleted,
  deliverMailsJob,
  pruneMailOutcomesJob,
  ...features.filter(isOneOf([...featuresOn(features, options), ...featuresOn(features, atBuild(options))])).flatMap((feature) =>
    (feature.jobs ?? []).map((job): Job => ({
      name: job.name,
      every: job.every,
      irreversible: job.irreversible,
      run: async (deps, ending) => void (isOneOf(featuresOn(features, options))(feature) && (await job.run(deps, ending))),
    })),
  ),
]

const atBuild = (options: MountOptions): MountOptions => ({ ...options, level: fixedLevel(options.config.version) })

const isOneOf =
  (known: readonly Feature[]) =>
  ({ id }: Feature): boolean =>
    known.some((one) => one.id === id)
