/** The sources and tools of an image. */
export interface ImageBuild {
  /** The checkout. */
  readonly root: string
  /** A folder of our own, on a disk with some gigabytes to spare. */
  readonly work: string
  /** The folder that docker/base.sh made. */
  readonly base: string
  readonly release: string
  /** ISO 8601, the day of the release: no file in the image is newer. */
  readonly created: string
  /** The commit, or `unknown`. */
  readonly revision: string
  /** The major version of the PostgreSQL that the base has for an evaluation; null: a release has none. */
  readonly postgres: string | null
  /** Called with the title of each step. */
  readonly onStep: (text: string) => void
}

/** The time of everything in the image, in seconds. */
export const secondsOf = (created: string): number => Date.parse(created) / 1000

/** The base's name in labels and logs. */
export const baseName = 'localhost/gatehouse-base'

/** The arguments of the build. */
export const argumentsOf = ({ release, created, revision, postgres }: ImageBuild): Readonly<Record<string, string>> => ({
  RELEASE: release,
  CREATED: created,
  REVISION: revision,
  BASE: baseName,
  EMBEDDED_POSTGRES: postgres ?? 'no',
})
