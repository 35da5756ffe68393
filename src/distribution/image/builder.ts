/** What an image is built from and with. */
export interface ImageBuild {
  /** The checkout. */
  readonly root: string
  /** A folder of our own, on a disk with some gigabytes to spare. */
  readonly work: string
  /** The folder that docker/base.sh made. */
  readonly base: string
  readonly release: string
  /** ISO 8601, of the release's day: nothing in the image is newer. */
  readonly created: string
  /** The commit, or `unknown`. */
  readonly revision: string
  /** Told of each step. */
  readonly onStep: (text: string) => void
}

/** The time of everything in the image, in seconds. */
export const secondsOf = (created: string): number => Date.parse(created) / 1000

/** The base's name in labels and logs. */
export const baseName = 'localhost/gatehouse-base'

/** The build arguments that end up in the image. */
export const argumentsOf = ({ release, created, revision }: ImageBuild): Readonly<Record<string, string>> => ({
  RELEASE: release,
  CREATED: created,
  REVISION: revision,
  BASE: baseName,
})
