/** The files in the folder of a release, besides the list of its files and the signature of that. */
export const releaseFiles = {
  layout: 'oci',
  sboms: 'sbom',
  documents: 'docs',
  provenance: 'provenance.intoto.json',
  /** The record of the nightly run of its commit. */
  nightly: 'nightly.json',
  lock: (version: string): string => `${version}.lock.json`,
  chart: (name: string, version: string): string => `${name}-${version}.tgz`,
  /** The command line with all that it needs but Node, for machines that cannot run the image. */
  cli: (version: string): string => `gatehouse-cli-${version}.tgz`,
} as const

/** The command line in an image, as docker/stage.mjs lays it out. */
export const imageProgram = 'app/program/gatehouse.js'

/** The file that starts the command line in its archive. */
export const cliLauncher = 'gatehouse.cjs'

/** The repositories of a release in a registry. */
export const repositories = { image: 'gatehouse', charts: 'charts' } as const
